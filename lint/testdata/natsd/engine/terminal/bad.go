package terminal

func show() {
	println("hello") // want `D5: println writes to the terminal`
	print("hello")   // want `D5: print writes to the terminal`
}

func local() {
	println := func(string) {}
	println("hello")
}
