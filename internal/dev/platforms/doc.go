// Package platforms checks the connectors for public platforms, and the fakes of these platforms, against the
// platforms' own schemas, or Telegram's description of its Bot API. It checks each request and answer of the connector
// suite, and the platforms' reports. A library for the workspace chat tool checks the connector for charlie.
//
//	go test ./platforms
//
// The schemas are not part of the repository; without them the tests that need them are skipped.
package platforms
