"""`python -m devkube.agent`: one process for the nodes of one cluster."""

from devkube.agent import early

if __name__ == "__main__":
    early.listen()

    from devkube.agent.command import run

    run()
