package revocation

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// answerMax bounds the bytes of an answer.
const answerMax = 64 << 10

// GetURL is where a responder is asked a question by GET.
func GetURL(responder string, question []byte) string {
	return strings.TrimSuffix(responder, "/") + "/" + url.QueryEscape(base64.StdEncoding.EncodeToString(question))
}

// Exchange sends a question to a responder, by GET or POST (RFC 6960, appendix A), and returns its answer as it is: at most 64 KiB;
// of a longer one, as of any HTTP status but 200, there is an error. The request's context says how long that may take.
func Exchange(r *http.Request) ([]byte, error) {
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("bad OCSP responder http status: [%d]", answer.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, answerMax+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > answerMax {
		return nil, errors.New("the answer is too long")
	}
	return raw, nil
}
