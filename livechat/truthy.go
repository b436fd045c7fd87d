package livechat

// Truthy is a condition that JSON may give as a value of any type: as in JavaScript, false,
// null, 0, NaN and "" are false, and all others are true.
type Truthy bool

// DecodeValue reads a value of any type.
func (t *Truthy) DecodeValue(value any) error {
	switch v := value.(type) {
	case nil:
		*t = false
	case bool:
		*t = Truthy(v)
	case string:
		*t = v != ""
	case int64:
		*t = v != 0
	case float64:
		*t = v < 0 || v > 0
	default:
		*t = true
	}
	return nil
}
