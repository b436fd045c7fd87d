package main

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/botctx/go-sdk/backends/otel"
)

// newMetrics returns what measures the parts of the service, and the page on which
// Prometheus reads the figures. Spans go to OpenTelemetry's global provider, which
// discards them if a host has set none.
func newMetrics() (*otel.Instrumentation, http.Handler, error) {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, nil, err
	}
	measured, err := otel.New(otel.Config{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader))})
	return measured, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), err
}
