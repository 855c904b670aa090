package main

func simMain(args []string) int { return 1 }
