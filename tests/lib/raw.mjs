// HTTP by hand, for what a decent client would never send: bytes go out as given, answers are read strictly.
import net from 'node:net';

// A connection that keeps what comes in. `closed` resolves when the server has ended it.
export function connect(port, host = '127.0.0.1') {
  const socket = net.connect({ port, host, allowHalfOpen: true });
  const it = { socket, bytes: Buffer.alloc(0), ended: false, wake: () => {} };
  it.closed = new Promise(done => {
    const end = () => { it.ended = true; it.wake(); done(); };
    socket.on('end', end);
    socket.on('close', end);
  });
  socket.on('error', () => {}); // a reset is an end as well
  socket.on('data', more => { it.bytes = Buffer.concat([it.bytes, more]); it.wake(); });
  it.send = bytes => { if (!socket.destroyed) socket.write(bytes); return it; };
  it.open = new Promise((ok, no) => { socket.once('connect', ok); socket.once('error', no); });
  return it;
}

// The head at the front of `bytes`: {status, version, headers, length}. Nothing where it is not whole yet.
function headOf(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return;
  const [first, ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const found = first.match(/^HTTP\/(1\.[01]) (\d{3}) /);
  if (!found) throw new Error(`no HTTP answer: ${JSON.stringify(first.slice(0, 200))}`);
  const headers = {};
  for (const line of lines) {
    const at = line.indexOf(':');
    if (at < 1) throw new Error(`a broken header: ${JSON.stringify(line)}`);
    headers[line.slice(0, at).toLowerCase()] = line.slice(at + 1).trim();
  }
  return { version: found[1], status: +found[2], headers, length: end + 4 };
}

// Waits until `look` gives something; fails at the deadline, which only a broken server reaches.
async function until(it, what, look, patience = 20_000) {
  const deadline = Date.now() + patience;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (it.ended) return null;
    const left = deadline - Date.now();
    if (left <= 0) throw new Error(`no ${what} within ${patience} ms; so far: ${it.bytes.toString('latin1').slice(0, 300)}`);
    await new Promise(done => { const t = setTimeout(done, left); it.wake = () => { clearTimeout(t); done(); }; });
  }
}

// The next answer of a connection: {status, version, headers, text, json}; null where the server closes without one.
export async function answer(it, { bodiless = false } = {}) {
  const head = await until(it, 'head of an answer', () => headOf(it.bytes));
  if (!head) return null;
  const size = bodiless || head.status < 200 || head.status === 204 ? 0 : +(head.headers['content-length'] ?? NaN);
  if (Number.isNaN(size)) throw new Error('an answer without content-length');
  const whole = await until(it, 'body of an answer', () => it.bytes.length >= head.length + size ? true : undefined);
  if (!whole) throw new Error('an answer was cut short');
  const body = it.bytes.subarray(head.length, head.length + size);
  it.bytes = it.bytes.subarray(head.length + size);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body); // every answer is UTF-8
  let json;
  try { json = JSON.parse(text); } catch { /* not every answer is JSON */ }
  return { ...head, text, json };
}

// Sends bytes on a connection of their own and gives the answer.
export async function exchange(port, bytes, options) {
  const it = connect(port);
  it.send(bytes);
  try {
    return await answer(it, options);
  } finally {
    it.socket.destroy();
  }
}

// A request as bytes, with the length of its body.
export function request(method, target, body = '', headers = {}) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
  const all = { host: 'localhost', 'content-type': 'application/json', ...(bytes.length ? { 'content-length': bytes.length } : {}), ...headers };
  const head = `${method} ${target} HTTP/1.1\r\n` + Object.entries(all).map(([k, v]) => `${k}: ${v}\r\n`).join('') + '\r\n';
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
}
