package schema

import "github.com/natsd/natsd/conf"

// Map is the block that v must be, or nil.
func (d *Decoder) Map(v *conf.Value) *conf.Map {
	if v.Kind != conf.Block {
		d.Wrong(v, "a block")
		return nil
	}
	return v.Block
}

// Block reads a block into what field points at.
func Block[T, U any](field func(*T) *U, where string, keys func() []Key[U]) Reader[T] {
	return func(d *Decoder, v *conf.Value, to *T) {
		if m := d.Map(v); m != nil {
			Read(d, m, where, keys(), field(to))
		}
	}
}

// Items calls each for the items of an array. A single value counts as an array of one where single says so.
func Items[T any](single bool, each func(d *Decoder, v *conf.Value, to *T)) Reader[T] {
	return func(d *Decoder, v *conf.Value, to *T) {
		if v.Kind != conf.Array {
			if !single {
				d.Wrong(v, "an array")
				return
			}
			each(d, v, to)
			return
		}
		for i := range v.Array {
			if v.Array[i].Kind != conf.Missing {
				each(d, &v.Array[i], to)
			}
		}
	}
}

// Blocks reads an array of blocks. each makes room for one and returns it.
func Blocks[T, U any](each func(to *T, at conf.Pos) *U, where string, keys func() []Key[U]) Reader[T] {
	return Items(false, func(d *Decoder, v *conf.Value, to *T) {
		if m := d.Map(v); m != nil {
			Read(d, m, where, keys(), each(to, v.Pos))
		}
	})
}

// Entries calls each for the entries of a block whose keys are free: names of accounts, subjects.
func Entries[T any](each func(d *Decoder, e *conf.Entry, to *T)) Reader[T] {
	return func(d *Decoder, v *conf.Value, to *T) {
		m := d.Map(v)
		if m == nil {
			return
		}
		for i := range m.Entries {
			e := &m.Entries[i]
			if m.Find(e.Key) == e && e.Value.Kind != conf.Missing {
				each(d, e, to)
			}
		}
	}
}
