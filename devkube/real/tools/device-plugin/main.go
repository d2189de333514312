// device-plugin tells a kubelet of cards that are not there, the way a vendor's plugin tells it of real ones.
//
//	device-plugin -resource nvidia.com/gpu -count 4 -broken FILE
//
// A container gets the names of its cards in NVIDIA_VISIBLE_DEVICES. FILE holds names of cards, one a line, that are
// broken from then on; it is read again and again. A kubelet that starts anew is told anew.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const look = 200 * time.Millisecond

type cards struct {
	api.UnimplementedDevicePluginServer
	count  int
	broken string
}

func (c *cards) devices() []*api.Device {
	listed, _ := os.ReadFile(c.broken)
	broken := map[string]bool{}
	for _, name := range strings.Fields(string(listed)) {
		broken[name] = true
	}
	found := make([]*api.Device, c.count)
	for number := range found {
		name, health := fmt.Sprintf("card-%d", number), api.Healthy
		if broken[name] {
			health = api.Unhealthy
		}
		found[number] = &api.Device{ID: name, Health: health}
	}
	return found
}

func (c *cards) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

func (c *cards) ListAndWatch(_ *api.Empty, kubelet api.DevicePlugin_ListAndWatchServer) error {
	var told map[string]string
	for kubelet.Context().Err() == nil {
		now, health := c.devices(), map[string]string{}
		for _, device := range now {
			health[device.ID] = device.Health
		}
		if !reflect.DeepEqual(health, told) {
			if err := kubelet.Send(&api.ListAndWatchResponse{Devices: now}); err != nil {
				return err
			}
			told = health
		}
		time.Sleep(look)
	}
	return nil
}

func (c *cards) Allocate(_ context.Context, asked *api.AllocateRequest) (*api.AllocateResponse, error) {
	given := &api.AllocateResponse{}
	for _, container := range asked.ContainerRequests {
		names := map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(container.DevicesIds, ",")}
		given.ContainerResponses = append(given.ContainerResponses, &api.ContainerAllocateResponse{Envs: names})
	}
	return given, nil
}

func register(kubelet, endpoint, resource string) error {
	wire, err := grpc.NewClient("unix://"+kubelet, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer wire.Close()
	limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	ask := &api.RegisterRequest{Version: api.Version, Endpoint: endpoint, ResourceName: resource}
	_, err = api.NewRegistrationClient(wire).Register(limited, ask)
	return err
}

func birth(path string) time.Time {
	if seen, err := os.Stat(path); err == nil {
		return seen.ModTime()
	}
	return time.Time{}
}

// serve answers one kubelet until its socket is another one: a kubelet that starts removes all plugins' sockets.
func serve(folder, resource string, all *cards) error {
	kubelet, own := filepath.Join(folder, "kubelet.sock"), filepath.Join(folder, "cards.sock")
	for birth(kubelet).IsZero() {
		time.Sleep(look)
	}
	born := birth(kubelet)
	os.Remove(own)
	socket, err := net.Listen("unix", own)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, all)
	go server.Serve(socket)
	defer server.Stop()
	if err := register(kubelet, filepath.Base(own), resource); err != nil {
		return err
	}
	log.Printf("%d cards of %s are told", all.count, resource)
	for birth(kubelet).Equal(born) {
		time.Sleep(look)
	}
	return nil
}

func main() {
	folder := flag.String("folder", api.DevicePluginPath, "of the kubelet's sockets")
	resource := flag.String("resource", "nvidia.com/gpu", "the cards' name")
	count := flag.Int("count", 1, "how many")
	broken := flag.String("broken", "", "file with the names of broken cards")
	flag.Parse()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() { <-stop; os.Exit(0) }()
	for {
		if err := serve(*folder, *resource, &cards{count: *count, broken: *broken}); err != nil {
			log.Print(err)
			time.Sleep(look)
		}
	}
}
