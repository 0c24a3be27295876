// A sensible request for each operation, where the smallest one that the description allows is not. By operation: what
// differs from that one, as {path, query, body, form, headers, status}, or a function of the world (world.mjs) and the
// smallest body that gives it, or gives a list of such: several requests. Parameters of the path are made by the world;
// the last one of a DELETE is made for it alone.
const hello = { messages: [{ role: 'user', content: 'hello' }] };
const block = w => ({ body: { label: w.name('label'), value: 'text', description: 'about it', metadata: { a: 1 } } });
const identity = w => ({ body: { identifier_key: w.name('key'), name: w.name('identity'), identity_type: 'user', properties: [{ key: 'p', value: 1, type: 'number' }] } });
const tool = w => ({ body: { source_code: `def ${w.name('made')}() -> str:\n    """Says a word."""\n    return 'word'\n` } });
const file = w => ({ form: { file: { name: `${w.name('file')}.txt`, type: 'text/plain', text: 'The harbour opens at nine.' } } });
const mcpServer = w => ({ server_name: w.name('server'), type: 'streamable_http', server_url: 'http://127.0.0.1:9/mcp' });
const ofTemplate = w => ({ base_template_id: w.name('base'), template_id: w.name('template'), deployment_id: w.name('deployment') });
const agentFile = { agents: [], groups: [], blocks: [], files: [], sources: [], tools: [], mcp_servers: [], skills: [], metadata: {} };

// Attached first, so that there is something to detach.
const detach = (attached, ...parameters) => async w => {
  const path = Object.fromEntries(await Promise.all(parameters.map(async p => [p, await w.fresh(p)])));
  await w.do('PATCH', attached.replace(/\{(\w+)\}/g, (_, p) => path[p]));
  return { path };
};
const openFile = async w => {
  await w.do('PATCH', `/v1/agents/${await w.get('agent_id')}/folders/attach/${await w.get('folder_id')}`);
  await w.do('PATCH', `/v1/agents/${await w.get('agent_id')}/files/${await w.get('file_id')}/open`);
  return {};
};
const streams = path => [{ body: hello }, { body: { ...hello, streaming: true, stream_tokens: true } }, { body: { ...hello, streaming: true, background: true } }].map(recipe => ({ ...recipe, ...path }));

export const recipes = {
  'POST /v1/agents/': w => [
    { body: { model: w.model, embedding: w.embedding, memory_blocks: [{ label: 'human', value: '' }], tags: ['walker'], tool_exec_environment_variables: { A: 'b' }, secrets: { C: 'd' } } },
    { body: { model: w.model, agent_type: 'memgpt_v2_agent', include_base_tools: true } },
    { body: { model: w.model, embedding: w.embedding, enable_sleeptime: true } },
  ],
  'GET /v1/agents/': [{}, { query: { include: ['agent.blocks', 'agent.tools', 'agent.tags', 'agent.identities', 'agent.sources', 'agent.secrets', 'agent.managed_group', 'agent.pending_approval'] } }],
  'GET /v1/agents/{agent_id}': [{}, { headers: { 'x-stainless-package-version': '', 'user-agent': 'curl/8' } }],
  'PATCH /v1/agents/{agent_id}': { body: { description: 'changed', tags: ['walker', 'changed'], metadata: { a: null } } },
  'POST /v1/agents/import': w => ({ form: { file: { name: 'a.af', type: 'application/json', text: JSON.stringify({ ...agentFile, agents: [{ id: 'agent-0', name: w.name('imported'), agent_type: 'letta_v1_agent', system: 'You look after clocks.', model: w.model, embedding: w.embedding, tool_ids: [], block_ids: [], messages: [], in_context_message_ids: [] }] }) } } }),
  'PATCH /v1/agents/{agent_id}/tools/approval/{tool_name}': { body: { requires_approval: false } },
  'PATCH /v1/agents/{agent_id}/tools/detach/{tool_id}': detach('/v1/agents/{agent_id}/tools/attach/{tool_id}', 'agent_id', 'tool_id'),
  'POST /v1/agents/{agent_id}/tools/{tool_name}/run': { body: { args: { word: 'three' } } },
  'PATCH /v1/agents/{agent_id}/core-memory/blocks/{block_label}': { body: { value: 'somebody else' } },
  'PATCH /v1/agents/{agent_id}/core-memory/blocks/detach/{block_id}': detach('/v1/agents/{agent_id}/core-memory/blocks/attach/{block_id}', 'agent_id', 'block_id'),
  'PATCH /v1/agents/{agent_id}/archives/attach/{archive_id}': async w => ({ path: { agent_id: await w.fresh('agent_id') } }),
  'PATCH /v1/agents/{agent_id}/archives/detach/{archive_id}': detach('/v1/agents/{agent_id}/archives/attach/{archive_id}', 'agent_id', 'archive_id'),
  'PATCH /v1/agents/{agent_id}/identities/detach/{identity_id}': detach('/v1/agents/{agent_id}/identities/attach/{identity_id}', 'agent_id', 'identity_id'),
  'PATCH /v1/agents/{agent_id}/folders/detach/{folder_id}': detach('/v1/agents/{agent_id}/folders/attach/{folder_id}', 'agent_id', 'folder_id'),
  'PATCH /v1/agents/{agent_id}/sources/detach/{source_id}': detach('/v1/agents/{agent_id}/sources/attach/{source_id}', 'agent_id', 'source_id'),
  'PATCH /v1/agents/{agent_id}/files/{file_id}/open': openFile,
  'PATCH /v1/agents/{agent_id}/files/{file_id}/close': openFile,
  'PATCH /v1/agents/{agent_id}/files/close-all': openFile,
  'POST /v1/agents/{agent_id}/archival-memory': { body: { text: 'Green pears grow on trees.', tags: ['fruit'] } },
  'GET /v1/agents/{agent_id}/archival-memory/search': { query: { query: 'pears' } },
  'GET /v1/agents/{agent_id}/messages': [{}, { query: { order: 'asc', limit: '2' } }],
  'POST /v1/agents/{agent_id}/messages': streams(),
  'POST /v1/agents/{agent_id}/messages/stream': [{ body: hello }, { body: { ...hello, stream_tokens: true } }],
  'POST /v1/agents/{agent_id}/messages/async': { body: hello },
  'POST /v1/agents/{agent_id}/messages/preview-raw-payload': { body: hello },
  'POST /v1/agents/{agent_id}/messages/cancel': async w => {
    const agent_id = await w.fresh('agent_id');
    await w.workingRun(`/v1/agents/${agent_id}/messages`);
    return { path: { agent_id }, body: {} };
  },
  'PATCH /v1/agents/{agent_id}/messages/{message_id}': { body: { message_type: 'user_message', content: 'said otherwise' } },
  'PATCH /v1/agents/{agent_id}/reset-messages': async w => ({ path: { agent_id: await w.fresh('agent_id') }, body: { add_default_initial_messages: true } }),
  'POST /v1/agents/{agent_id}/summarize': async w => {
    const agent_id = await w.fresh('agent_id');
    for (const text of ['one', 'two', 'three']) await w.do('POST', `/v1/agents/${agent_id}/messages`, w.user(text));
    return { path: { agent_id }, body: { compaction_settings: { mode: 'all' } } };
  },
  'POST /v1/agents/{agent_id}/generate': { body: { prompt: 'Say a word.' } },
  'POST /v1/agents/messages/search': { body: { query: 'hello', search_mode: 'fts' } },

  'POST /v1/archives/': w => ({ body: { name: w.name('archive'), embedding: w.embedding } }),
  'PATCH /v1/archives/{archive_id}': { body: { description: 'changed' } },
  'POST /v1/archives/{archive_id}/passages': { body: { text: 'The heron stands in the river.' } },
  'POST /v1/archives/{archive_id}/passages/batch': { body: { passages: [{ text: 'one' }, { text: 'two' }] } },
  'POST /v1/passages/search': async w => ({ body: { query: 'heron', archive_id: await w.get('archive_id') } }),

  'POST /v1/blocks/': block,
  'PATCH /v1/blocks/{block_id}': { body: { value: 'changed' } },
  'PATCH /v1/blocks/{block_id}/identities/detach/{identity_id}': detach('/v1/blocks/{block_id}/identities/attach/{identity_id}', 'block_id', 'identity_id'),
  'POST /v1/_internal_blocks/': block,
  'PATCH /v1/_internal_agents/{agent_id}/core-memory/blocks/{block_label}': { body: { value: 'somebody else' } },

  'POST /v1/conversations/': async w => ({ query: { agent_id: await w.get('agent_id') }, body: { summary: 'about it' } }),
  'GET /v1/conversations/': async w => ({ query: { agent_id: await w.get('agent_id') } }),
  'PATCH /v1/conversations/{conversation_id}': { body: { summary: 'changed' } },
  'POST /v1/conversations/{conversation_id}/messages': [{ body: hello }, { body: { ...hello, streaming: false } }],
  'POST /v1/conversations/{conversation_id}/messages/preview-raw-payload': { body: hello },
  'POST /v1/conversations/{conversation_id}/stream': async w => {
    const otid = w.name('otid');
    await w.backgroundRun(otid);
    return { path: { conversation_id: 'default' }, body: { agent_id: await w.get('agent_id'), otid } };
  },
  'POST /v1/conversations/{conversation_id}/cancel': async w => {
    const conversation_id = await w.fresh('conversation_id');
    await w.workingRun(`/v1/conversations/${conversation_id}/messages`);
    return { path: { conversation_id } };
  },
  'POST /v1/conversations/{conversation_id}/compact': async w => {
    const conversation_id = await w.fresh('conversation_id');
    for (const text of ['one', 'two', 'three']) await w.do('POST', `/v1/conversations/${conversation_id}/messages`, { ...w.user(text), streaming: false });
    return { path: { conversation_id }, body: { compaction_settings: { mode: 'all' } } };
  },
  'POST /v1/chat/completions': async w => ({ body: { model: await w.get('agent_id'), ...hello } }),
  'POST /v1/voice-beta/{agent_id}/chat/completions': { body: { model: 'x', ...hello, stream: true } },

  'POST /v1/folders/': w => ({ body: { name: w.name('folder'), embedding: w.embedding } }),
  'PATCH /v1/folders/{folder_id}': { body: { description: 'changed' } },
  'POST /v1/folders/{folder_id}/upload': file,
  'POST /v1/sources/': w => ({ body: { name: w.name('source'), embedding: w.embedding } }),
  'PATCH /v1/sources/{source_id}': { body: { description: 'changed' } },
  'POST /v1/sources/{source_id}/upload': file,
  ...Object.fromEntries(['GET /v1/sources/{source_id}/files/{file_id}', 'DELETE /v1/sources/{source_id}/{file_id}'].map(o => [o, async w => ({ path: { source_id: await w.get('folder_id') } })])),

  'POST /v1/groups/': async w => ({ body: { agent_ids: [await w.fresh('agent_id'), await w.fresh('agent_id')], description: 'two of them' } }),
  'PATCH /v1/groups/{group_id}': { body: { description: 'changed' } },
  'PATCH /v1/groups/{group_id}/blocks/detach/{block_id}': detach('/v1/groups/{group_id}/blocks/attach/{block_id}', 'group_id', 'block_id'),
  'PATCH /v1/groups/{group_id}/messages/{message_id}': { body: { message_type: 'user_message', content: 'said otherwise' } },

  'POST /v1/identities/': identity,
  'PUT /v1/identities/': identity,
  'PATCH /v1/identities/{identity_id}': { body: { name: 'renamed' } },
  'PUT /v1/identities/{identity_id}/properties': { body: [{ key: 'only', value: 'one', type: 'string' }] },

  'POST /v1/mcp-servers/': w => ({ body: { server_name: w.name('server'), config: { mcp_server_type: 'sse', server_url: 'http://127.0.0.1:9/sse' } } }),
  'PATCH /v1/mcp-servers/{mcp_server_id}': { body: { config: { mcp_server_type: 'stdio', command: 'another', args: [] } } },
  'PUT /v1/tools/mcp/servers': w => ({ body: mcpServer(w) }),
  'PATCH /v1/tools/mcp/servers/{mcp_server_name}': { body: { server_url: 'http://127.0.0.1:10/mcp' } },
  'POST /v1/tools/mcp/servers/test': w => ({ body: mcpServer(w) }),
  'POST /v1/tools/mcp/servers/connect': w => ({ body: mcpServer(w) }),

  'GET /v1/messages/': { query: { limit: '5' } },
  'POST /v1/messages/search': { body: { query: 'hello', search_mode: 'fts' } },
  'POST /v1/messages/batches': async w => ({ body: { requests: [{ agent_id: await w.fresh('agent_id'), ...hello }] } }),
  'DELETE /v1/runs/{run_id}': async w => ({ path: { run_id: await w.fresh('run_id') } }),
  'POST /v1/runs/{run_id}/stream': async w => ({ path: { run_id: await w.backgroundRun() }, body: { starting_after: 0 } }),
  'GET /v1/runs/': async w => ({ query: { agent_id: await w.get('agent_id') } }),
  'PATCH /v1/steps/{step_id}/feedback': { body: { feedback: 'positive', tags: ['good'] } },

  'POST /v1/providers/': w => ({ body: { name: w.name('own'), provider_type: 'openai', api_key: 'none', base_url: w.modelAddress } }),
  'POST /v1/providers/check': w => ({ body: { provider_type: 'openai', api_key: 'none', base_url: w.modelAddress } }),
  'PATCH /v1/providers/{provider_id}': { body: { api_key: 'other' } },

  'POST /v1/tools/': tool,
  'PUT /v1/tools/': tool,
  'PATCH /v1/tools/{tool_id}': { body: { description: 'changed' } },
  'POST /v1/tools/run': { body: { source_code: 'def word() -> str:\n    """Says a word."""\n    return "word"\n', args: {} } },
  'POST /v1/tools/search': { body: { query: 'memory' } },

  'POST /v1/client-side-access-tokens': { body: { hostname: 'http://localhost', policy: [] } },
  'POST /v1/_internal_templates/groups': async w => ({ body: { agent_ids: [await w.fresh('agent_id')], description: 'of a template', ...ofTemplate(w) } }),
  'POST /v1/_internal_templates/agents': w => ({ body: { model: w.model, embedding: w.embedding, entity_id: w.name('entity'), ...ofTemplate(w) } }),
  'POST /v1/_internal_templates/blocks': w => ({ body: { label: 'human', value: '', entity_id: w.name('entity'), ...ofTemplate(w) } }),
};
