// Package chatplatform is a made-up platform over HTTP that can do everything that a port of packages send
// and livechat needs, and the connector to it. It is for tests of the suite of connectors, and of connectors
// that wrap others.
package chatplatform
