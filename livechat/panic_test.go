package livechat_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// brokenStore is a store that panics when it is used.
type brokenStore struct{}

func (brokenStore) Now(context.Context) (time.Time, error) { panic("no clock") }

func (brokenStore) Collection(string) store.Collection { return struct{ store.Collection }{} }

// something returns a value of a type with which methods get as far as their ports: every text
// in it is "x".
func something(of reflect.Type) reflect.Value {
	value := reflect.New(of).Elem()
	switch v := value.Addr().Interface().(type) {
	case *document.Object:
		*v = document.O("_id", 1)
		return value
	case *send.Response:
		*v = send.Text("x")
		return value
	case *send.MessageEvent:
		*v = send.MessageEvent{Type: send.TypePayload, From: "x", To: "x", Data: document.O("payload", document.O("payload", livechat.TakePayload, "value", "x"))}
		return value
	case *livechat.UpdateGroupParams:
		v.Group = document.O("_id", "x")
		return value
	default:
	}
	if of == reflect.TypeFor[livechat.Outcome]() {
		value.SetString(string(livechat.OutcomeKept))
		return value
	}
	switch of.Kind() {
	case reflect.String:
		value.SetString("x")
	case reflect.Slice:
		value.Set(reflect.Append(value, something(of.Elem())))
	case reflect.Pointer:
		value.Set(something(of.Elem()).Addr())
	case reflect.Struct:
		for i := range of.NumField() {
			if of.Field(i).IsExported() {
				value.Field(i).Set(something(of.Field(i).Type))
			}
		}
	default:
	}
	return value
}

func TestService_PanicsOfPorts(t *testing.T) {
	t.Parallel()
	for method := range reflect.TypeFor[*livechat.Service]().Methods() {
		t.Run(method.Name, func(t *testing.T) {
			t.Parallel()
			broken := livechat.New(record.Env{Store: brokenStore{}}, record.Scope{App: "x"}, livechat.Ports{
				Members: struct{ livechat.Members }{}, Channels: struct{ channels.Loader }{}, Agendas: struct{ livechat.Agendas }{},
				Pairing:  func(context.Context, string) ([]string, error) { panic("no pairing") },
				Panicked: func(_ context.Context, cause any) error { return boterr.Recovered(cause) },
			})
			given := []reflect.Value{reflect.ValueOf(broken), reflect.ValueOf(t.Context())}
			for j := len(given); j < method.Type.NumIn(); j++ {
				given = append(given, something(method.Type.In(j)))
			}
			results := method.Func.Call(given)
			err, _ := reflect.TypeAssert[error](results[len(results)-1])
			var panicked *boterr.PanicError
			require.ErrorAs(t, err, &panicked)
			require.Equal(t, boterr.Internal, boterr.CodeOf(err))
		})
	}
}

// A required port that the host forgot is named by the method that needs it.
func TestNew_MissingPorts(t *testing.T) {
	t.Parallel()
	for port, forget := range map[string]func(*livechat.Ports){
		"Members":  func(p *livechat.Ports) { p.Members = nil },
		"Channels": func(p *livechat.Ports) { p.Channels = nil },
		"Pairing":  func(p *livechat.Ports) { p.Pairing = nil },
		"Agendas":  func(p *livechat.Ports) { p.Agendas = nil },
	} {
		t.Run(port, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			ports := s.mine.ports
			forget(&ports)
			_, err := livechat.New(s.mine.env, s.mine.scope, ports).CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, "Ports."+port)
		})
	}
}
