package server

import (
	"cmp"
	"net"
	"runtime"
	"strconv"
	"time"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

// monitorSettings say where the server's state is served, and profiles of the process.
type monitorSettings struct {
	httpHost  string
	httpPort  int // 0: no monitoring
	httpsHost string
	httpsPort int // 0: not by HTTPS
	basePath  string
	profPort  int // 0: no profiles
	profRate  int // nanoseconds blocked for one sample of the block profile; 0: none
}

// take reads what a configuration file says.
func (s *monitorSettings) take(c *config.Config) {
	*s = monitorSettings{
		httpHost: c.MonitorHost, httpPort: c.MonitorPort, httpsHost: c.MonitorsHost, httpsPort: c.MonitorsPort, basePath: c.BasePath,
		profPort: c.ProfPort, profRate: c.ProfRate,
	}
}

// monitorHost is the address that monitoring listens on: its own, else the one for clients.
func (s *settings) monitorHost() string {
	return cmp.Or(s.httpHost, s.httpsHost, s.engine.Host, "0.0.0.0")
}

// monitorScheme is how it is asked.
func (s *monitorSettings) monitorScheme() string {
	if s.httpsPort != 0 {
		return "https"
	}
	return "http"
}

func (v *Server) openMonitoring() (err error) {
	s := v.started
	v.host.Loaded(s.digest, time.Now())
	if s.httpPort == 0 && s.httpsPort == 0 {
		return nil
	}
	o := host.MonitorOptions{Addr: net.JoinHostPort(s.monitorHost(), portText(cmp.Or(s.httpPort, s.httpsPort))), BasePath: s.basePath}
	if s.httpsPort != 0 {
		o.TLS = s.tls.live.Monitoring()
	}
	if v.monitor, err = v.host.Monitor(o); err != nil {
		return err
	}
	v.say(engine.LevelInfo, "Starting "+s.monitorScheme()+" monitor on "+net.JoinHostPort(s.monitorHost(), strconv.Itoa(v.monitor.Port())))
	return nil
}

func (v *Server) openProfiles() (err error) {
	s := v.started
	if s.profPort != 0 {
		if v.profiles, err = host.Profile(net.JoinHostPort(cmp.Or(s.engine.Host, "0.0.0.0"), portText(s.profPort))); err != nil {
			return err
		}
		v.say(engine.LevelInfo, "profiling port: "+strconv.Itoa(v.profiles.Port()))
	}
	if s.profRate > 0 {
		v.profileBlocking(s.profRate)
	}
	return nil
}

// profileBlocking has one sample of the block profile taken for so many nanoseconds blocked; 0: none. The system account can ask for the
// profile where there is no port for it.
func (v *Server) profileBlocking(rate int) {
	runtime.SetBlockProfileRate(rate)
	if rate > 0 {
		v.say(engine.LevelWarn, "Block profiling is enabled (rate "+strconv.Itoa(rate)+"), this may have a performance impact")
	}
}

// closeMonitoring undoes openPorts.
func (v *Server) closeMonitoring() {
	if v.monitor != nil {
		v.monitor.Close()
	}
	if v.profiles != nil {
		v.profiles.Close()
	}
}

// portText is a port to listen on: any free one for -1.
func portText(port int) string { return strconv.Itoa(max(port, 0)) }
