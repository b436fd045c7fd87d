package botctx

import (
	"net/http"
	"reflect"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// maxWorkers is the most workers, and sends at once, that a host may ask for.
const maxWorkers = 10_000

// check refuses what could only fail later, in a run.
func (c Config) check() error {
	for _, port := range [...]struct {
		field string
		given any
	}{{"Store", c.Store}, {"HTTP", c.HTTP}, {"Mailer", c.Mailer}, {"ObjectStore", c.ObjectStore}} {
		if isNilPointer(port.given) {
			return nilPort(port.field, port.given)
		}
	}
	for platform, connector := range c.Connectors {
		if isNilPointer(connector) {
			return nilPort("Connectors["+string(platform)+"]", connector)
		}
	}
	for i, interceptor := range c.Interceptors {
		if interceptor == nil {
			return boterr.Invalid("Interceptors"+boterr.Index(i), "is nil: leave it out")
		}
	}
	for _, number := range [...]struct {
		field string
		value int
	}{
		{"Scheduler.Workers", c.Scheduler.Workers},
		{"Scheduler.Batch", c.Scheduler.Batch},
		{"Inbox.Workers", c.Inbox.Workers},
		{"ParallelSends", c.ParallelSends},
	} {
		if number.value < 0 || number.value > maxWorkers {
			return boterr.Invalid(number.field, "must be from 1 to %d, or left out, got %d", maxWorkers, number.value)
		}
	}
	return nil
}

// withLimits returns the Config with its time limits, which stay within that of a run.
func (c Config) withLimits() (Config, error) {
	if c.MaxRun == 0 {
		c.MaxRun = defaultMaxRun
	}
	for _, limit := range [...]struct {
		field string
		given time.Duration
	}{{"MaxSend", c.MaxSend}, {"Upload.Timeout", c.Upload.Timeout}, {"HTTP", timeoutOf(c.HTTP)}} {
		if c.MaxRun > 0 && limit.given > c.MaxRun {
			return c, boterr.Invalid(limit.field, "has a limit of %v, and a run ends after MaxRun (%v): lower the one, or raise the other",
				limit.given, c.MaxRun)
		}
	}
	if c.MaxSend == 0 {
		c.MaxSend = c.withinRun(defaultMaxSend)
	}
	c.Upload = c.Upload.withDefaults(c.withinRun(defaultUploadTimeout))
	return c, nil
}

// withinRun returns a limit that is no longer than that of a run.
func (c Config) withinRun(limit time.Duration) time.Duration {
	if c.MaxRun < 0 {
		return limit
	}
	return min(limit, c.MaxRun)
}

// timeoutOf returns how long a request of an HTTP client may take, 0 if that is not known.
func timeoutOf(client outbound.Doer) time.Duration {
	switch client := client.(type) {
	case *outbound.Client:
		return client.Timeout()
	case *http.Client:
		return client.Timeout
	default:
		return 0
	}
}

// nilPort is the error of a port that is a nil pointer.
func nilPort(field string, given any) error {
	return boterr.Invalid(field, "is a nil %T: leave the field out, or check the error of what made it", given)
}

// isNilPointer reports whether an interface holds a nil pointer, which its methods would fail on.
func isNilPointer(port any) bool {
	v := reflect.ValueOf(port)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
