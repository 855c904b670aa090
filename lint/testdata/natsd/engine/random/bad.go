package random

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/rsa"
	"iter"
	"math/rand"
	r2 "math/rand/v2"
)

func draws(private *rsa.PrivateKey, key *ecdsa.PrivateKey, to *mlkem.EncapsulationKey768) {
	_ = rand.Intn(3)                      // want `use of .rand.Intn. forbidden because "D3: draw from`
	rand.Shuffle(3, func(i, j int) {})    // want `use of .rand.Shuffle. forbidden because "D3`
	_ = r2.IntN(3)                        // want `use of .r2.IntN. forbidden because "D3`
	_ = r2.N(3)                           // want `use of .r2.N. forbidden because "D3`
	draw := r2.Uint64                     // want `use of .r2.Uint64. forbidden because "D3`
	_, _, _ = ed25519.GenerateKey(nil)    // want `use of .ed25519.GenerateKey. forbidden because "D3: keys are drawn`
	_, _ = ecdh.X25519().GenerateKey(nil) // want `GenerateKey. forbidden because "D3: keys are drawn`
	_, _ = ecdsa.SignASN1(nil, key, nil)  // want `use of .ecdsa.SignASN1. forbidden because "D3: blinding`
	_, _ = to.Encapsulate()               // want `Encapsulate. forbidden because "D3: keys and secrets`
	_, _ = mlkem.GenerateKey768()         // want `use of .mlkem.GenerateKey768. forbidden because "D3: keys and secrets`
	_ = draw
}

func pulled(seq iter.Seq[int]) {
	next, stop := iter.Pull(seq) // want `use of .iter.Pull. forbidden because "D1: a pulled iterator`
	next()
	stop()
}

func own(seed uint64) (int, int) {
	r := r2.New(r2.NewPCG(seed, 1))
	c := r2.New(r2.NewChaCha8([32]byte{}))
	old := rand.New(rand.NewSource(1))
	r.Shuffle(2, func(i, j int) {})
	return r.IntN(3) + c.IntN(3), old.Intn(3)
}
