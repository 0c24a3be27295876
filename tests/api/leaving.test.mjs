// Clients of streams that leave, or send more, while the model is silent. No clock decides: a server that does not see
// that they are gone waits for them for ten minutes when it stops, and the test runs out of time.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import tls from 'node:tls';
import { gate, obey, startModel } from '../lib/model.mjs';
import { request } from '../lib/raw.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';

let model, silence;
before(async () => { model = await startModel(async body => { await silence.pass(); return obey(body); }); });
after(() => model.stop());
beforeEach(() => { silence = gate(); });

function certificate() {
  const folder = temporaryFolder(), [key, cert] = ['key.pem', 'cert.pem'].map(name => path.join(folder, name));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1', '-subj', '/CN=localhost', '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return ['--tls-certificate', cert, '--tls-key', key];
}

const wires = {
  HTTP: { args: () => [], open: port => net.connect(port, '127.0.0.1'), leave: [s => s.end(), s => s.destroy(), s => s.resetAndDestroy()] },
  TLS: { args: certificate, open: port => tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }), leave: [s => s.end(), s => s.destroy()] },
};

for (const [name, wire] of Object.entries(wires))
  describe(`over ${name}`, { timeout: 120_000 }, () => {
    let server, agent;
    beforeEach(async () => {
      server = await startServer({ env: model.env, args: [...wire.args(), '--stop-timeout', '600'] });
      agent = (await ask('POST', '/v1/agents/', { name: 'ada', model: 'openai-proxy/mock', include_base_tools: false })).json.id;
    });

    // fetch() does not take the certificate.
    const ask = async (method, target, body) => {
      const socket = wire.open(server.port).end(request(method, target, JSON.stringify(body), { connection: 'close' }));
      let text = '';
      for await (const bytes of socket) text += bytes;
      return { json: JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) };
    };

    const said = body => request('POST', `/v1/agents/${agent}/messages/stream`, JSON.stringify({ messages: [{ role: 'user', content: 'say hello' }], ...body }));
    // Gives the socket when its stream has begun and the model is asked.
    async function open(body) {
      const socket = wire.open(server.port);
      socket.on('error', () => {});
      socket.text = '';
      const begun = new Promise(done => socket.on('data', bytes => { socket.text += bytes; if (socket.text.includes('\n\n')) done(); }));
      socket.write(said(body));
      await Promise.all([begun, silence.arrived]);
      return socket;
    }

    test('clients that leave in any way are gone', async () => {
      for (const how of wire.leave) how(await open());
      const { code } = await server.stop();
      assert.equal(code, 0);
      silence.open();
    });

    test('what is sent while a stream is open is answered after it', async () => {
      const socket = await open();
      socket.write(Buffer.concat([request('GET', '/v1/health/'), request('GET', '/v1/nothing', '', { connection: 'close' })]));
      silence.open();
      await new Promise(done => socket.once('close', done));
      assert.match(socket.text, /hello[^]*data: \[DONE\][^]*\r\n0\r\n\r\nHTTP\/1\.1 200 OK[^]*"status":"ok"[^]*HTTP\/1\.1 404 /);
      await server.stop();
    });
  });
