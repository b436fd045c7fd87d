// Package platforms checks the connectors to public platforms, and the fakes of these platforms, against the
// platforms' own schemas: every request and every answer of the suite of connectors, and the platforms'
// reports.
//
//	go test ./platforms
//
// The schemas are not part of the repository; without them the tests are skipped.
package platforms
