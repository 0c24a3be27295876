// Takes callbacks; /gone answers 404, /held nothing.
import http from 'node:http';

export async function startReceiver() {
  const got = [];
  const listener = http.createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    got.push({ path: request.url, method: request.method, type: request.headers['content-type'], body: JSON.parse(body) });
    if (request.url === '/held') return;
    response.writeHead(request.url === '/gone' ? 404 : 200).end();
  });
  await new Promise(done => listener.listen(0, '127.0.0.1', done));
  listener.unref();
  return { got, base: `http://127.0.0.1:${listener.address().port}`, stop: () => { listener.closeAllConnections(); listener.close(); } };
}
