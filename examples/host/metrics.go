package main

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/botctx/go-sdk/backends/otel"
)

// newMetrics returns the service's instrumentation, and the page on which Prometheus reads the metrics. Spans
// go to OpenTelemetry's global provider, which discards them unless a host has set one.
func newMetrics() (*otel.Instrumentation, http.Handler, error) {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, nil, err
	}
	measured, err := otel.New(otel.Config{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader))})
	return measured, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), err
}
