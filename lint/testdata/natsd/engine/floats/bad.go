package floats

import "time"

const million int = 1e6 // an integer, however it is written

type load float64 // want `D6: floating point`

func share(n, of int) int {
	f := float64(n) / float64(of) // want `D6: floating point`
	return int(f * 100)           // want `D6: floating point`
}

func late(d time.Duration) bool {
	return d.Seconds() > 1 // want `D6: floating point`
}

// rate is for people to read.
//
//natsd:float printed, decides nothing
func rate(n int, d time.Duration) float64 {
	seconds := d.Seconds()
	return float64(n) / seconds
}

func total(l load) int { // want `D6: floating point`
	//natsd:float rounded at once
	return million + int(l)
}

//natsd:float there is none // want `annotation //natsd:float excuses nothing`
func none() {}
