package botctx

import (
	"context"
	"log/slog"
	"reflect"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
)

// Logged returns an interceptor that writes a line for each operation: at debug where it
// succeeds, at error where its code is Internal, and at warn where it fails otherwise. The
// line has the operation, the scope, the duration by the Runtime's clock, and the code of an
// error and the name of the parameter that its field lies in. It has no values and no inner
// names of parameters, no results and no sentence of an error, since those may hold what
// members write. A nil logger writes nothing.
func Logged(logger *slog.Logger) Interceptor {
	logger = safelog.New(logger)
	return func(ctx context.Context, call *Call, next Next) (any, error) {
		begun := call.Context.Now()
		result, err := next(ctx)
		level := levelOf(err)
		if !logger.Enabled(ctx, level) {
			return result, err
		}
		attributes := append(make([]slog.Attr, 0, 7), slog.String("op", string(call.Op)))
		attributes = appendScope(attributes, call.Context.scope)
		attributes = append(attributes, slog.Duration("duration", call.Context.Now().Sub(begun)))
		logger.LogAttrs(ctx, level, "botctx: operation", appendCode(attributes, err, parameterOf(call.Params, err))...)
		return result, err
	}
}

// levelOf returns the level of the line about an operation.
func levelOf(err error) slog.Level {
	switch boterr.CodeOf(err) {
	case "":
		return slog.LevelDebug
	case boterr.Internal:
		return slog.LevelError
	default:
		return slog.LevelWarn
	}
}

// appendScope appends the ids of a scope, without those that it lacks.
func appendScope(attributes []slog.Attr, scope record.Scope) []slog.Attr {
	for _, id := range [...]slog.Attr{
		slog.String("app", scope.App), slog.String("channel", scope.Channel), slog.String("member", scope.Member),
	} {
		if id.Value.String() != "" {
			attributes = append(attributes, id)
		}
	}
	return attributes
}

// appendCode appends the code of an error, without its sentence, and a field.
func appendCode(attributes []slog.Attr, err error, field string) []slog.Attr {
	if err == nil {
		return attributes
	}
	attributes = append(attributes, slog.String("code", string(boterr.CodeOf(err))))
	if field != "" {
		attributes = append(attributes, slog.String("field", field))
	}
	return attributes
}

// outermost returns the first name of the field of an error: those inside may be names that
// members chose.
func outermost(err error) string {
	e, ok := boterr.AsError(err)
	if !ok {
		return ""
	}
	if end := strings.IndexAny(e.Field, ".["); end >= 0 {
		return e.Field[:end]
	}
	return e.Field
}

// parameterOf returns the name of the parameter in which the field of an error lies, "" for
// a field that is in none.
func parameterOf(params any, err error) string {
	name := outermost(err)
	if name == "" || params == nil || !hasField(reflect.TypeOf(params), name) {
		return ""
	}
	return name
}

// hasField reports whether a struct, or a pointer to one, has a field of that JSON name.
func hasField(t reflect.Type, name string) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for _, field := range reflect.VisibleFields(t) {
		if known, _, _ := strings.Cut(field.Tag.Get("json"), ","); known == name {
			return true
		}
	}
	return false
}
