// The tour with the Python SDK (python_sdk.py), which validates what it gets.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { run } from '../lib/run.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const python = process.env.TROUPE_PYTHON ?? path.resolve(import.meta.dirname, '../../build/venv/bin/python');

test('every answer is valid to the Python SDK', async () => {
  const server = await startServer();
  const { code, out, err } = await run(python, [path.join(import.meta.dirname, 'python_sdk.py'), server.base], { env: { HOME: temporaryFolder('home'), PYTHONDONTWRITEBYTECODE: '1' } });
  await server.stop();
  assert.equal(code, 0, err);
  assert.equal(out.trim(), 'the tour is over');
});
