package document

// As returns a value as a T, by the rules of Decode: an object as a struct, an array of objects as a slice of
// structs. The value may be anything that ValueOf accepts, such as the entries of a data source:
//
//	progress, err := document.As[Progress](bot.Member.Meta)
//	places, err := document.As[[]Place](near.Entries)
//
// A missing or null value gives the zero value; fields unknown to T are ignored. Fields are named by json
// tags, and match with exact case. InvalidArgument: a value does not fit, or a key differs only in case from
// a field without a tag, such as price from Price; Field is its path, such as "[2].price".
func As[T any](value any) (T, error) {
	var v, none T
	plain, err := ValueOf(value)
	if err == nil {
		err = DecodeValue(plain, &v)
	}
	if err != nil {
		return none, err
	}
	return v, nil
}

// Change reads an object as a struct T, calls change with it, and sets the changed values in the object:
//
//	err := document.Change(&bot.Member.Meta, func(p *Progress) { p.Step++ })
//
// Keys unknown to T are kept, and so are keys that change did not modify, also in nested objects. A key that
// T omits afterwards, because of omitempty or omitzero, is removed. Arrays are replaced as a whole.
//
// InvalidArgument: the object does not fit T, or T contains something that is not a value; Field is the path,
// and the object is unchanged.
func Change[T any](o *Object, change func(*T)) error {
	v, err := As[T](*o)
	if err != nil {
		return err
	}
	before, err := Encode(v)
	if err != nil {
		return err
	}
	change(&v)
	after, err := Encode(v)
	if err == nil {
		err = after.Err()
	}
	if err != nil {
		return err
	}
	*o = o.withChanges(before, after)
	return nil
}

// withChanges returns o with the differences between two objects applied.
func (o Object) withChanges(before, after Object) Object {
	for key := range before.All() {
		if _, stays := after.Field(key); !stays {
			o = o.Without(key)
		}
	}
	for key, value := range after.All() {
		if old := before.Value(key); !Identical(old, value) {
			o = o.Put(key, changed(o.Value(key), old, value))
		}
	}
	return o
}

// changed returns the replacement for a value, given the difference between before and after.
func changed(value, before, after any) any {
	inner, isObject := value.(Object)
	from, wasObject := before.(Object)
	to, becomesObject := after.(Object)
	if isObject && wasObject && becomesObject {
		return inner.withChanges(from, to)
	}
	return after
}
