package selects

func wait() {
	select {} // want `D1: select chooses at random`
}
