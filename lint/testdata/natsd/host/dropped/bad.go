package dropped

func fails() error { return nil }

func number() int { return 1 }

func drop(err error) {
	_ = fails() // want `style: an error thrown away`

	_ = err // want `style: an error thrown away`

	_ = fails() // nothing can be done about it at this point
	_ = number()
}
