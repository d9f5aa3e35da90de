package facts

// must unwraps a value in a function that guard runs.
func must[T any](v T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return v
}

type failure struct{ err error }

// guard runs fn and returns the first error that must met in it.
func guard(fn func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case failure:
			err = v.err
		default:
			panic(v)
		}
	}()
	fn()
	return nil
}

// guarded lets a chapter's function use must: the first error ends it and is
// returned.
func guarded(fn func(add func(key string, value float64))) func(add func(key string, value float64)) error {
	return func(add func(key string, value float64)) error {
		return guard(func() { fn(add) })
	}
}
