/* A browser that goes where it is sent, by Windows' Node. */
import http from 'node:http';

const go = (url) => http.get(url, (answer) => {
    answer.resume();
    if (answer.headers.location)
        go(new URL(answer.headers.location, url));
});

go(process.argv[2]);
