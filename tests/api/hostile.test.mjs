// The HTTP border: whatever comes over the wire gets the right answer, and the next client notices nothing of it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { call, startServer } from '../lib/server.mjs';
import { answer, connect, exchange, request } from '../lib/raw.mjs';

process.setMaxListeners(0); // every server and folder waits for the end of this process
const health = request('GET', '/v1/health/');
const crlf = '\r\n';
let server;

const residentMiB = () => +fs.readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1] / 1024;

async function isWell(s = server) {
  assert.equal((await exchange(s.port, health))?.status, 200); // on a connection of its own: an idle one may be closing
}

before(async () => { server = await startServer({ args: ['--header-timeout', '1', '--body-timeout', '1', '--idle-timeout', '3'] }); });
after(async () => { await server.stop(); assert.equal((await server.exited).code, 0); });
afterEach(() => isWell());

describe('requests that are none', () => {
  const heads = {
    'no request line': 'GARBAGE\r\n\r\n',
    'a method alone': 'GET\r\n\r\n',
    'no version': 'GET /v1/health/\r\n\r\n',
    'an unknown version': 'GET /v1/health/ HTTP/9.9\r\n\r\n',
    'another protocol': 'SSH-2.0-OpenSSH_9.2\r\n\r\n',
    'a TLS hello': Buffer.from('16030100c8010000c40303a1b2c3d4e5f60d0a0d0a', 'hex'),
    'a NUL byte in the target': 'GET /v1/he\0alth/ HTTP/1.1\r\nhost: x\r\n\r\n',
    'a space in the target': 'GET /v1/he alth/ HTTP/1.1\r\nhost: x\r\n\r\n',
    'a target that is no path': 'GET v1/health HTTP/1.1\r\nhost: x\r\n\r\n',
    'a header without a colon': 'GET /v1/health/ HTTP/1.1\r\nhost x\r\n\r\n',
    'a header without a name': 'GET /v1/health/ HTTP/1.1\r\n: x\r\n\r\n',
    'a space before the colon': 'GET /v1/health/ HTTP/1.1\r\nhost : x\r\n\r\n',
    'a NUL byte in a header': 'GET /v1/health/ HTTP/1.1\r\nhost: a\0b\r\n\r\n',
    'a length that is no number': 'POST /v1/blocks/ HTTP/1.1\r\nhost: x\r\ncontent-length: many\r\n\r\n',
    'a negative length': 'POST /v1/blocks/ HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n',
    'a length beyond all numbers': `POST /v1/blocks/ HTTP/1.1\r\nhost: x\r\ncontent-length: ${'9'.repeat(40)}\r\n\r\n`,
    'two lengths': 'POST /v1/blocks/ HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}',
    'a length and chunks': 'POST /v1/blocks/ HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  };
  for (const [what, bytes] of Object.entries(heads))
    it(`${what}: 400`, async () => assert.equal((await exchange(server.port, bytes))?.status, 400));

  const targets = ['/v1/agents/%', '/v1/agents/%4', '/v1/agents/%zz', '/v1/agents/%ff%fe', '/v1/agents/%ed%a0%80', '/v1/agents/?name=%f', '/v1/agents/?%=1', '/v1/agents/?name=%c3'];
  for (const target of targets)
    it(`${target}: 400`, async () => assert.equal((await exchange(server.port, request('GET', target))).status, 400));

  it('bytes that are no text, for megabytes', async () => {
    const noise = Buffer.alloc(4 << 20, 0xa5);
    assert.equal((await exchange(server.port, noise))?.status, 400);
  });
});

describe('strange but whole requests', () => {
  it('NUL bytes in path and query are text like any other', async () => {
    assert.equal((await exchange(server.port, request('GET', '/v1/agents/%00'))).status, 422);
    assert.equal((await exchange(server.port, request('GET', '/v1/agents/?name=%00'))).status, 200);
    assert.equal((await exchange(server.port, request('GET', '/%00'))).status, 404);
  });

  it('unknown methods: 405', async () => {
    for (const method of ['BREW', 'TRACE', 'PROPFIND', 'get', 'X'.repeat(2000), 'OPTIONS'])
      assert.equal((await exchange(server.port, request(method, '/v1/agents/'))).status, 405, method);
    assert.equal((await exchange(server.port, request('HEAD', '/v1/agents/'), { bodiless: true })).status, 405);
    assert.ok((await exchange(server.port, request('CONNECT', 'example.org:80'))).status < 500);
  });

  it('an answer to HEAD has no body, and the connection goes on behind it', async () => {
    const c = connect(server.port).send(request('HEAD', '/v1/health/')).send(health);
    await answer(c, { bodiless: true });
    assert.equal((await answer(c)).status, 200);
    c.socket.destroy();
  });

  it('HTTP/1.0: answered and closed, or kept where that is asked for', async () => {
    const c = connect(server.port).send('GET /v1/health/ HTTP/1.0\r\n\r\n');
    assert.equal((await answer(c)).status, 200);
    await c.closed;
    const k = connect(server.port).send('GET /v1/health/ HTTP/1.0\r\nconnection: keep-alive\r\n\r\n');
    const first = await answer(k);
    assert.equal(first.status, 200);
    assert.equal(first.headers.connection, 'keep-alive');
    assert.equal((await answer(k.send(health))).status, 200);
    k.socket.destroy();
  });

  it('pipelined requests are answered in order', async () => {
    const n = 500;
    const c = connect(server.port);
    c.send(Buffer.concat(Array.from({ length: n }, (_, i) => request('GET', i % 2 ? '/v1/health/' : `/nothing-${i}`))));
    for (let i = 0; i < n; ++i) assert.equal((await answer(c)).status, i % 2 ? 200 : 404, `answer ${i}`);
    c.socket.destroy();
  });

  it('a request that comes byte by byte', async () => {
    const c = connect(server.port);
    await c.open;
    c.socket.setNoDelay(true);
    for (const byte of health) { c.send(Buffer.from([byte])); await new Promise(setImmediate); }
    assert.equal((await answer(c)).status, 200);
    c.socket.destroy();
  });

  it('Expect: 100-continue is answered before the body, a body that is too large at once', async () => {
    const body = '{"label":"expected","value":"v"}';
    const c = connect(server.port).send(request('POST', '/v1/blocks/', '', { expect: '100-continue', 'content-length': body.length }));
    assert.equal((await answer(c)).status, 100);
    assert.equal((await answer(c.send(body))).json.label, 'expected');
    c.socket.destroy();
    const large = request('POST', '/v1/blocks/', '', { expect: '100-continue', 'content-length': 1 << 30 });
    assert.equal((await exchange(server.port, large)).status, 413);
  });

  it('a path cannot put headers into the answer', async () => {
    for (const target of ['/v1/blocks/x%0d%0aevil:%201/', '/v1/agents%0d%0aevil:%201', '/v1/agents/%0d%0aevil:1/messages/']) {
      const got = await exchange(server.port, request('GET', target));
      assert.ok(got.status < 500);
      assert.equal(got.headers.evil, undefined, target);
    }
    const moved = await exchange(server.port, request('GET', '/v1/agents?name=a%20b'));
    assert.equal(moved.status, 307);
    assert.equal(moved.headers.location, '/v1/agents/?name=a%20b');
  });

  it('headers that are not UTF-8 are read as Latin-1: every answer stays UTF-8', async () => {
    const got = await exchange(server.port, request('GET', '/v1/agents/', '', { user_id: 'M\xfcller\xff' }));
    assert.equal(got.status, 400);
    assert.match(got.json.detail, /Müllerÿ/);
  });
});

describe('more than allowed', () => {
  it('a header of 128 KiB, and 10,000 headers: 431', async () => {
    assert.equal((await exchange(server.port, request('GET', '/v1/health/', '', { 'x-long': 'x'.repeat(128 << 10) }))).status, 431);
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`x-${i}`, 'value']));
    assert.equal((await exchange(server.port, request('GET', '/v1/health/', '', many))).status, 431);
    assert.equal((await exchange(server.port, request('GET', `/v1/agents/?name=${'x'.repeat(128 << 10)}`))).status, 431);
  });

  it('a header that never ends: 431', async () => {
    const c = connect(server.port).send('GET /v1/health/ HTTP/1.1\r\nx: ');
    for (let i = 0; i < 64; ++i) c.send(Buffer.alloc(16 << 10, 'y'));
    assert.equal((await answer(c)).status, 431);
    c.socket.destroy();
  });

  it('a body of 33 MiB with its length: 413 before it is read', async () => {
    const got = await exchange(server.port, request('POST', '/v1/agents/', '', { 'content-length': 33 << 20 }));
    assert.equal(got.status, 413);
    assert.match(got.json.detail, /33554432/);
  });

  it('a body of 33 MiB that is sent all the same: the client gets to read the 413', async () => {
    const got = await call(server.base, 'POST', '/v1/agents/', ' '.repeat(33 << 20));
    assert.equal(got.status, 413);
  });

  it('chunks that add up to more: 413', async () => {
    const c = connect(server.port).send(request('POST', '/v1/agents/', '', { 'transfer-encoding': 'chunked' }));
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1 << 20, ' '), Buffer.from(crlf)]);
    for (let i = 0; i < 33; ++i) c.send(chunk);
    assert.equal((await answer(c)).status, 413);
    c.socket.destroy();
  });

  it('a body just below the limit is read', async () => {
    const got = await call(server.base, 'POST', '/v1/blocks/', `{"label":"full",${' '.repeat((32 << 20) - 40)}"value":"v"}`);
    assert.equal(got.json.label, 'full');
  });

  it('chunks that are none: 400', async () => {
    const sizes = ['zz', '-1', '1'.repeat(20), '', ' ', '0x2', '2 2'];
    for (const size of sizes) {
      const bytes = Buffer.concat([request('POST', '/v1/blocks/', '', { 'transfer-encoding': 'chunked' }), Buffer.from(`${size}\r\n{}\r\n0\r\n\r\n`)]);
      const got = await exchange(server.port, bytes);
      assert.ok([400, 413].includes(got?.status), `chunk size ${JSON.stringify(size)}: ${got?.status}`);
    }
    const unended = Buffer.concat([request('POST', '/v1/blocks/', '', { 'transfer-encoding': 'chunked' }), Buffer.from('2\r\n{}XX0\r\n\r\n')]);
    assert.equal((await exchange(server.port, unended))?.status, 400);
  });

  it('an unknown transfer encoding is refused', async () => {
    const got = await exchange(server.port, Buffer.concat([request('POST', '/v1/blocks/', '', { 'transfer-encoding': 'gzip' }), Buffer.from('x')]));
    assert.ok(got === null || (got.status >= 400 && got.status !== 500), `${got?.status}`);
  });

  it('many refused bodies leave no memory behind', async () => {
    await call(server.base, 'POST', '/v1/agents/', ' '.repeat(31 << 20));
    const before = residentMiB();
    for (let i = 0; i < 12; ++i) assert.equal((await call(server.base, 'POST', '/v1/agents/', '['.repeat(900_000) + ' '.repeat(7 << 20))).status, 400);
    assert.ok(residentMiB() - before < 256, `${before} -> ${residentMiB()} MiB`);
  });
});

describe('half a request', () => {
  const halfHead = health.subarray(0, health.length - 10);
  const halfBody = request('POST', '/v1/blocks/', '{"label":"half"', { 'content-length': 100 });
  const halfChunk = Buffer.concat([request('POST', '/v1/blocks/', '', { 'transfer-encoding': 'chunked' }), Buffer.from('64\r\n{"label":"half"')]);

  for (const [what, bytes] of Object.entries({ head: halfHead, body: halfBody, chunk: halfChunk })) {
    it(`half a ${what}, then the end: 400`, async () => {
      const c = connect(server.port).send(bytes);
      c.socket.end();
      assert.equal((await answer(c))?.status, 400);
      await c.closed;
    });

    it(`half a ${what}, then gone`, async () => {
      await Promise.all(Array.from({ length: 50 }, async () => {
        const c = connect(server.port);
        await c.open;
        await new Promise(done => c.socket.write(bytes, done));
        c.socket.resetAndDestroy();
      }));
    });

    it(`half a ${what}, then nothing: the connection is closed in time`, async () => {
      const c = connect(server.port).send(bytes);
      assert.equal(await answer(c), null);
      c.socket.destroy();
    });
  }

  it('a connection on which nothing happens is closed in time, also after a request', async () => {
    const [fresh, used] = [connect(server.port), connect(server.port).send(health)];
    assert.equal((await answer(used)).status, 200);
    await Promise.all([fresh.closed, used.closed]);
    fresh.socket.destroy();
    used.socket.destroy();
  });

  it('a slow drip does not extend the time for a head', async () => {
    const c = connect(server.port).send('GET /v1/health/ HTTP/1.1\r\n');
    const drip = setInterval(() => c.send('x-a: b\r\n'), 50);
    await c.closed;
    clearInterval(drip);
    c.socket.destroy();
  });
});

describe('crowds', () => {
  it('1,000 idle connections hold nobody up, whatever a login allows', async () => {
    limitFiles('512');
    const big = await startServer();
    limitFiles('4096');
    const before = +fs.readFileSync(`/proc/${big.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1];
    const idle = Array.from({ length: 1000 }, (_, i) => i % 2 ? connect(big.port) : connect(big.port).send(halfHeadOf(i)));
    await Promise.all(idle.map(c => c.open));
    for (let i = 0; i < 50; ++i) await isWell(big);
    const after = +fs.readFileSync(`/proc/${big.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1];
    assert.ok(after - before < 128 << 10, `${before} -> ${after} KiB`);
    for (const c of idle) c.socket.destroy();
    await isWell(big);
    await big.stop();
  });

  it('one connection too many is told so, and there is room again when one leaves', async () => {
    const small = await startServer({ args: ['--max-connections', '4'] });
    const held = Array.from({ length: 4 }, () => connect(small.port).send(health));
    for (const c of held) assert.equal((await answer(c)).status, 200);
    assert.equal((await exchange(small.port, health)).status, 503);
    held[0].socket.destroy();
    let status;
    for (const end = Date.now() + 20_000; status !== 200 && Date.now() < end;) status = (await exchange(small.port, health))?.status;
    assert.equal(status, 200);
    for (const c of held) c.socket.destroy();
    await small.stop();
  });

  // The soft limit of open files, which the server inherits from this process.
  function limitFiles(n) { execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${n}:`]); }
  function halfHeadOf(i) { return `GET /v1/health/?n=${i} HTTP/1.1\r\nhost:`; }
});
