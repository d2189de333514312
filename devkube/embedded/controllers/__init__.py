"""The controllers: each makes the cluster agree with one kind of wish, woken by changes only."""
