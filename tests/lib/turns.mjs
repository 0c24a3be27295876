// The ways to send a message with the TypeScript SDK, each read to its end; what a turn said, asked and did, the same
// whichever way it came.
const listOf = calls => [calls ?? []].flat();

// Deltas of a call carry its name or a part of its arguments; a whole call is one delta.
function callsOf(messages) {
  const calls = new Map();
  for (const { name, arguments: part, tool_call_id } of messages.flatMap(m => listOf(m.tool_calls))) {
    const call = calls.get(tool_call_id) ?? { name: '', arguments: '', tool_call_id };
    calls.set(tool_call_id, { ...call, name: call.name || name, arguments: call.arguments + (part ?? '') });
  }
  return [...calls.values()];
}

// {said, called, asked, returned, stop, run}
export function summary(messages, stop) {
  const of = type => messages.filter(m => m.message_type === type);
  return {
    said: of('assistant_message').map(m => m.content).join(''),
    called: callsOf(of('tool_call_message')),
    asked: callsOf(of('approval_request_message')),
    returned: of('tool_return_message').flatMap(m => m.tool_returns),
    stop: stop ?? of('stop_reason').at(-1)?.stop_reason,
    run: messages.find(m => m.run_id)?.run_id,
  };
}

const streamed = options => async (client, agent, body) => {
  const events = [];
  for await (const event of await client.agents.messages.create(agent, { ...body, streaming: true, ...options })) events.push(event);
  return summary(events);
};

export const ways = {
  blocking: async (client, agent, body) => { const { messages, stop_reason } = await client.agents.messages.create(agent, body); return summary(messages, stop_reason.stop_reason); },
  steps: streamed({}),
  tokens: streamed({ stream_tokens: true }),
  background: streamed({ stream_tokens: true, background: true }),
};
