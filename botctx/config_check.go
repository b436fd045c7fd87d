package botctx

import (
	"net/http"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// maxWorkers is the most workers, and sends at once, that a host may ask for.
const maxWorkers = 10_000

// check refuses what could only fail later, in a run.
func (c Config) check() error {
	for _, port := range [...]struct {
		field string
		given any
	}{{"Store", c.Store}, {"HTTP", c.HTTP}, {"Mailer", c.Mailer}, {"ObjectStore", c.ObjectStore}} {
		if err := absent.Check(port.field, port.given); err != nil {
			return err
		}
	}
	for platform, connector := range c.Connectors {
		if err := checkConnector(connector); err != nil {
			return boterr.WithField("Connectors["+string(platform)+"]", err)
		}
	}
	if err := absent.CheckList("Interceptors", c.Interceptors); err != nil {
		return err
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
	if c.Upload.Timeout <= 0 {
		c.Upload.Timeout = c.withinRun(defaultUploadTimeout)
	}
	if c.Upload.MaxBytes <= 0 {
		c.Upload.MaxBytes = send.MaxFileMegabytes << 20
	}
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

// checkConnector refuses a connector that is not there, also within those that stand around it.
func checkConnector(connector send.Connector) error {
	for {
		if connector == nil {
			return boterr.Invalid("", "is nil: leave it out")
		}
		if err := absent.Check("", connector); err != nil {
			return err
		}
		wrapper, isWrapper := connector.(send.Wrapper)
		if !isWrapper {
			return nil
		}
		connector = wrapper.Unwrap()
	}
}
