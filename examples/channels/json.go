package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// short stands for what is not shown of JSON.
const short = "{…}"

// jsonOf returns a value as JSON, with some of its fields cut short.
func jsonOf(value any, shortened ...string) string {
	object, err := objectOf(value)
	if err != nil {
		return string(encoded(value))
	}
	for _, field := range shortened {
		if object.Has(field) {
			object = object.With(field, short)
		}
	}
	return strings.ReplaceAll(object.String(), strconv.Quote(short), short)
}

// without returns a value's JSON without some of its fields.
func without(value any, fields ...string) string {
	object, err := objectOf(value)
	if err != nil {
		return string(encoded(value))
	}
	for _, field := range fields {
		object = object.Without(field)
	}
	return object.String()
}

// given returns the JSON of parameters without those that are empty.
func given(params any) string {
	object, err := objectOf(params)
	if err != nil {
		return string(encoded(params))
	}
	return notEmpty(object).String()
}

func notEmpty(object document.Object) document.Object {
	left := document.O()
	for field, value := range object.All() {
		switch inner, isObject := value.(document.Object); {
		case isObject:
			left = left.With(field, notEmpty(inner))
		case value != nil && value != "" && value != int64(0):
			left = left.With(field, value)
		}
	}
	return left
}

// formOf returns the names of the fields of a value's JSON, but for those that are cut short.
func formOf(value any) string {
	object, err := objectOf(value)
	if err != nil {
		return ""
	}
	return formOfObject(object, "messageEvent", "message")
}

func formOfObject(object document.Object, shortened ...string) string {
	var form strings.Builder
	for field, value := range object.All() {
		form.WriteString(" " + field)
		if inner, isObject := value.(document.Object); isObject && !slices.Contains(shortened, field) {
			form.WriteString("(" + formOfObject(inner) + ")")
		}
	}
	return form.String()
}

// objectOf returns the object that a value is as JSON.
func objectOf(value any) (document.Object, error) {
	var object document.Object
	err := document.DecodeJSON(encoded(value), &object)
	return object, err
}

// encoded returns a value as JSON.
func encoded(value any) []byte {
	text, err := document.EncodeJSON(value)
	if err != nil {
		return []byte("! " + err.Error())
	}
	return text
}
