package channel_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
)

func TestClone_SharesNoListWithTheChannel(t *testing.T) {
	t.Parallel()
	for _, info := range []channel.Info{
		channel.AlphaInfo{}, channel.BravoInfo{}, channel.CharlieInfo{}, channel.DeltaInfo{}, channel.EchoInfo{}, channel.OtherInfo{},
	} {
		t.Run(fmt.Sprintf("%T", info), func(t *testing.T) {
			t.Parallel()
			filled := reflect.New(reflect.TypeOf(info)).Elem()
			fillLists(filled)
			c := channel.Channel{ID: "c1", Info: filled.Interface().(channel.Info)}
			fillLists(reflect.ValueOf(&c).Elem())
			clone := c.Clone()
			require.Equal(t, c, clone)
			requireApart(t, "Channel", reflect.ValueOf(c), reflect.ValueOf(clone))
			requireApart(t, "Info", reflect.ValueOf(c.Info), reflect.ValueOf(clone.Info))
		})
	}
}

// fillLists gives each list of a struct one element.
func fillLists(v reflect.Value) {
	for _, field := range v.Fields() {
		if field.Kind() == reflect.Slice && field.CanSet() {
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
			if element := field.Index(0); element.Kind() == reflect.Struct {
				fillLists(element)
			}
		}
	}
}

// requireApart asserts that two structs share none of the lists in their exported fields, and have no field that
// refers to anything else that changes.
func requireApart(t *testing.T, name string, a, b reflect.Value) {
	t.Helper()
	for i := range a.NumField() {
		field := a.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		at := name + "." + field.Name
		require.NotContains(t, []reflect.Kind{reflect.Map, reflect.Pointer, reflect.Func, reflect.Chan}, field.Type.Kind(), at)
		if field.Type.Kind() != reflect.Slice {
			continue
		}
		require.Equal(t, 1, a.Field(i).Len(), at)
		require.NotEqual(t, a.Field(i).Pointer(), b.Field(i).Pointer(), "%s is shared", at)
		if field.Type.Elem().Kind() == reflect.Struct {
			requireApart(t, at, a.Field(i).Index(0), b.Field(i).Index(0))
		}
	}
}
