// Package chatplatform is a made-up platform over HTTP that can do whatever a port of packages send
// and livechat asks for, and the connector to it. It is what the suite of connectors is tried with,
// and connectors that stand around others.
package chatplatform
