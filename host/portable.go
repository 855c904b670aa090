package host

func newPortable(s *Server) loop { panic("portable") }
