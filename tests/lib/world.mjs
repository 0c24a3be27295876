// What requests need to exist: agents, blocks, runs and so on, made through the API when first asked for. What the
// server cannot make yet has an id of the right form that nobody has.
import { call } from './server.mjs';

const nobody = { agent: 'agent', block: 'block', tool: 'tool', archive: 'archive', passage: 'passage', memory: 'passage', source: 'source', folder: 'source', file: 'file', group: 'group',
  identity: 'identity', run: 'run', step: 'step', message: 'message', conversation: 'conv', job: 'job', batch: 'batch_req', provider: 'provider', mcp_server: 'mcp_server' };

export class World {
  #made = new Map();
  #count = 0;

  constructor(base, { model, embedding, modelAddress }) { Object.assign(this, { base, model, embedding, modelAddress }); }

  name(prefix = 'thing') { return `${prefix}_${++this.#count}`; }
  user(content) { return { messages: [{ role: 'user', content }] }; }

  // One request on the way to another. undefined where the server does not serve it; any other failure is thrown.
  async do(method, target, body) {
    const answer = await call(this.base, method, target, body);
    if (answer.status === 501) return undefined;
    if (answer.status >= 300) throw new Error(`${method} ${target}: ${answer.status} ${answer.text.slice(0, 200)}`);
    return answer.json ?? null;
  }

  // The value of a path parameter: one for all requests, or one that nobody else has.
  async get(parameter) {
    if (!this.#made.has(parameter)) this.#made.set(parameter, this.fresh(parameter));
    return this.#made.get(parameter);
  }

  async fresh(parameter) {
    const word = parameter.replace(/_id$/, '');
    const made = makers[word] && await makers[word](this);
    return made ?? (nobody[word] ? `${nobody[word]}-00000000-0000-4000-8000-000000000000` : 'nobody');
  }

  async upload(folder) {
    const form = new FormData();
    form.set('file', new Blob([`line one of ${this.name()}\nline two`], { type: 'text/plain' }), `${this.name('file')}.txt`);
    const response = await fetch(`${this.base}/v1/folders/${folder}/upload`, { method: 'POST', body: form });
    return response.ok ? (await response.json()).id : undefined;
  }

  // A turn that works until it is cancelled (the model never answers to this); gives its run.
  async workingRun(target) {
    const body = { ...this.user('wait for ever'), streaming: true, background: true };
    const answer = await fetch(this.base + target, { method: 'POST', headers: { 'content-type': 'application/json', 'x-stainless-package-version': '1.12.1' }, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`POST ${target}: ${answer.status} ${await answer.text()}`);
    for await (const bytes of answer.body) return Buffer.from(bytes).toString().match(/run-[0-9a-f-]{36}/)?.[0];
  }

  // A turn that goes on without its client, so that its events can be read again.
  async backgroundRun(otid) {
    const { text } = await call(this.base, 'POST', `/v1/agents/${await this.get('agent_id')}/messages`, { messages: [{ role: 'user', content: 'in the background', otid }], streaming: true, background: true });
    return text.match(/run-[0-9a-f-]{36}/)?.[0];
  }
}

const id = async made => (await made)?.id;
const makers = {
  agent: w => id(w.do('POST', '/v1/agents/', { name: w.name('agent'), model: w.model, embedding: w.embedding, tags: ['walker'], memory_blocks: [{ label: 'human', value: 'somebody' }, { label: 'persona', value: 'something' }] })),
  block: w => id(w.do('POST', '/v1/blocks/', { label: w.name('label'), value: 'text' })),
  tool: async w => (await id(w.do('POST', '/v1/tools/', { source_code: `def ${w.name('tool')}(word: str) -> str:\n    """\n    Says a word.\n\n    Args:\n        word (str): the word\n    """\n    return word\n` }))) ?? (await w.do('GET', '/v1/tools/?name=memory_rethink'))[0].id,
  tool_name: async w => {
    const tool = await w.do('GET', `/v1/tools/${await w.fresh('tool_id')}`);
    await w.do('PATCH', `/v1/agents/${await w.get('agent_id')}/tools/attach/${tool.id}`);
    return tool.name;
  },
  block_label: () => 'human',
  archive: w => id(w.do('POST', '/v1/archives/', { name: w.name('archive'), embedding: w.embedding })),
  passage: async w => id(w.do('POST', `/v1/archives/${await w.get('archive_id')}/passages`, { text: 'The heron stands in the river.' })),
  memory: async w => (await w.do('POST', `/v1/agents/${await w.get('agent_id')}/archival-memory`, { text: 'Red apples grow on trees.' }))?.[0]?.id,
  folder: w => id(w.do('POST', '/v1/folders/', { name: w.name('folder'), embedding: w.embedding })),
  source: w => w.fresh('folder_id'),
  file: async w => w.upload(await w.get('folder_id')),
  folder_name: async w => (await w.do('GET', `/v1/folders/${await w.get('folder_id')}`))?.name,
  source_name: w => w.get('folder_name'),
  group: async w => id(w.do('POST', '/v1/groups/', { agent_ids: [await w.fresh('agent_id')], description: w.name('group') })),
  identity: w => id(w.do('POST', '/v1/identities/', { identifier_key: w.name('key'), name: w.name('identity'), identity_type: 'user' })),
  conversation: async w => id(w.do('POST', `/v1/conversations/?agent_id=${await w.get('agent_id')}`, {})),
  run: async w => (await w.do('POST', `/v1/agents/${await w.get('agent_id')}/messages`, w.user('hello')))?.messages[0].run_id,
  step: async w => (await w.do('GET', `/v1/runs/${await w.get('run_id')}/steps`))?.[0].id,
  message: async w => (await w.do('GET', `/v1/runs/${await w.get('run_id')}/messages?order=asc`))?.[0].id,
  batch: async w => id(w.do('POST', '/v1/messages/batches', { requests: [{ agent_id: await w.fresh('agent_id'), ...w.user('hello') }] })),
  job: async w => { const batch = await w.fresh('batch_id'); return batch.replace(/^batch_req/, 'job'); },
  provider: w => id(w.do('POST', '/v1/providers/', { name: w.name('own'), provider_type: 'openai', api_key: 'none', base_url: w.modelAddress })),
  mcp_server: w => id(w.do('POST', '/v1/mcp-servers/', { server_name: w.name('server'), config: { mcp_server_type: 'stdio', command: 'no-such-program', args: [] } })),
  mcp_server_name: async w => { const server_name = w.name('server'); return (await w.do('PUT', '/v1/tools/mcp/servers', { server_name, type: 'streamable_http', server_url: 'http://127.0.0.1:9/mcp' })) && server_name; },
};
