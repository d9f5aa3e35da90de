package facts

// guarded lets a chapter's function use must: the first error ends it and is
// returned.
func guarded(fn func(add func(key string, value float64))) func(add func(key string, value float64)) error {
	return func(add func(key string, value float64)) (err error) {
		defer func() {
			switch v := recover().(type) {
			case nil:
			case failure:
				err = v.err
			default:
				panic(v)
			}
		}()
		fn(add)
		return nil
	}
}
