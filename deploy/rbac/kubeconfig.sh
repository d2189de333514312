#!/bin/sh
# Print a kubeconfig of the platform's account, made by platform.yaml, for the cluster that kubectl talks to now.
# It holds a token: keep it to yourself, and delete it once the cluster is added.
set -eu

namespace=${NAMESPACE:-platform-system}
secret=${SECRET:-platform-token}

server=$(kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}')

# The token controller fills the secret a moment after it is made.
tries=0
until token=$(kubectl -n "$namespace" get secret "$secret" -o jsonpath='{.data.token}') && [ -n "$token" ]; do
  tries=$((tries + 1))
  if [ "$tries" -ge 30 ]; then
    echo "no token in secret $namespace/$secret: kubectl apply -f deploy/rbac/platform.yaml" >&2
    exit 1
  fi
  sleep 1
done
ca=$(kubectl -n "$namespace" get secret "$secret" -o jsonpath='{.data.ca\.crt}')

cat <<END
apiVersion: v1
kind: Config
current-context: platform
contexts:
- name: platform
  context: {cluster: cluster, user: platform}
clusters:
- name: cluster
  cluster:
    server: $server
    certificate-authority-data: $ca
users:
- name: platform
  user:
    token: $(printf %s "$token" | base64 -d)
END
