"""A tour of the API with the official Python SDK. It validates every answer against its models (strict)."""

import sys

import letta_client
from letta_client import Letta

MODEL, EMBEDDING = "rehearsal/default", "letta/letta-free"


def new_agent(client, **more):
    blocks = [{"label": "human", "value": ""}, {"label": "persona", "value": "I am a test."}]
    return client.agents.create(model=MODEL, embedding=EMBEDDING, memory_blocks=blocks, **more)


def kinds(messages):
    return [m.message_type for m in messages]


def fails_with(error, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


def agents(client):
    made = new_agent(client, name="snake", tags=["python"], metadata={"deep": [1, {"null": None}]})
    assert {b.label for b in made.blocks} == {"human", "persona"}
    read = client.agents.retrieve(made.id, include=["agent.blocks", "agent.tools", "agent.tags"])
    assert read.name == "snake" and read.tags == ["python"] and read.metadata == {"deep": [1, {"null": None}]}
    changed = client.agents.update(made.id, name="viper", tags=["changed"], model_settings={"provider_type": "openai", "temperature": 0.1})
    assert changed.name == "viper"
    others = [new_agent(client, tags=["paged"]) for _ in range(3)]
    for order, wanted in (("asc", others), ("desc", others[::-1])):
        listed = client.agents.list(tags=["paged"], limit=2, order=order)
        assert [a.id for a in listed] == [a.id for a in wanted]
    assert "changed" in client.tags.list()
    client.agents.delete(made.id)
    fails_with(letta_client.NotFoundError, client.agents.retrieve, made.id)
    fails_with(letta_client.UnprocessableEntityError, client.agents.retrieve, "nonsense")


def messages(client):
    agent = new_agent(client)
    answer = client.agents.messages.create(agent.id, messages=[{"role": "user", "content": "My name is Eve."}])
    assert kinds(answer.messages) == ["tool_call_message", "tool_return_message", "assistant_message"]
    assert "Eve" in answer.messages[-1].content and answer.stop_reason.stop_reason == "end_turn"

    steps = list(client.agents.messages.stream(agent.id, input="My name is Eva."))
    assert kinds(steps) == ["ping", *kinds(answer.messages), "stop_reason", "usage_statistics"]
    tokens = list(client.agents.messages.stream(agent.id, input="say one two three", stream_tokens=True))
    pieces = [e for e in tokens if e.message_type == "assistant_message"]
    assert len(pieces) > 1 and "".join(p.content for p in pieces) == "one two three"
    assert kinds(tokens)[-2:] == ["stop_reason", "usage_statistics"]

    everything = client.agents.messages.list(agent.id, order="asc", limit=100).items
    assert len(everything) == 1 + 4 + 4 + 2
    assert list(client.agents.messages.list(agent.id, order="asc", limit=3)) == everything
    newest = client.agents.messages.list(agent.id, limit=2).items
    assert newest == everything[-2:]
    older = client.agents.messages.list(agent.id, limit=1, before=newest[0].id).items
    assert [m.id for m in older] == [everything[-3].id]
    assert client.messages.retrieve(newest[0].id) == [newest[0]]
    return agent, answer


def memory(client, agent):
    edited = client.agents.blocks.update("human", agent_id=agent.id, value="Likes tea.")
    assert edited.value == "Likes tea." == client.agents.blocks.retrieve("human", agent_id=agent.id).value
    assert "Likes tea." in client.agents.messages.list(agent.id, order="asc", limit=1).items[0].content
    said = client.agents.messages.create(agent.id, input="What do you know about me?")
    assert kinds(said.messages) == ["reasoning_message", "assistant_message"] and "tea" in said.messages[1].content
    block = client.blocks.create(label="shared", value="x")
    assert client.agents.blocks.attach(block.id, agent_id=agent.id).id == agent.id
    assert [a.id for a in client.blocks.agents.list(block.id)] == [agent.id]
    assert client.blocks.update(block.id, value="y").value == "y"
    assert {b.label for b in client.agents.blocks.list(agent.id)} == {"human", "persona", "shared"}
    client.agents.blocks.detach(block.id, agent_id=agent.id)
    client.blocks.delete(block.id)
    assert block.id not in [b.id for b in client.blocks.list()]


def tools(client):
    agent = new_agent(client, include_base_tools=False)
    tool = client.tools.list(name="memory_rethink").items[0]
    assert client.tools.retrieve(tool.id).to_dict() == tool.to_dict()
    client.agents.tools.attach(tool.id, agent_id=agent.id)
    assert [t.name for t in client.agents.tools.list(agent.id)] == ["memory_rethink"]
    client.agents.tools.detach(tool.id, agent_id=agent.id)
    assert client.agents.tools.list(agent.id).items == []


def runs(client, agent, answer):
    run = client.runs.retrieve(answer.messages[0].run_id)
    assert (run.status, run.stop_reason, run.agent_id) == ("completed", "end_turn", agent.id)
    assert run.id in [r.id for r in client.runs.list(agent_id=agent.id)]
    assert kinds(client.runs.messages.list(run.id, order="asc")) == ["user_message", *kinds(answer.messages)]
    steps = list(client.runs.steps.list(run.id, order="asc"))
    assert len(steps) == 2
    usage = client.runs.usage.retrieve(run.id)
    assert usage.total_tokens == sum(s.total_tokens for s in steps) == answer.usage.total_tokens
    assert client.steps.retrieve(steps[0].id).run_id == run.id
    assert steps[0].id in [s.id for s in client.steps.list(agent_id=agent.id)]
    assert client.steps.metrics.retrieve(steps[0].id).id == steps[0].id
    assert client.steps.feedback.create(steps[0].id, feedback="negative").feedback == "negative"
    assert all(m.step_id in (steps[0].id, None) for m in client.steps.messages.list(steps[0].id))


def conversations(client, agent):
    talk = client.conversations.create(agent_id=agent.id)
    events = list(client.conversations.messages.create(talk.id, messages=[{"role": "user", "content": "say aside"}]))
    assert [e.content for e in events if e.message_type == "assistant_message"] == ["aside"]
    assert client.conversations.retrieve(talk.id).agent_id == agent.id
    assert talk.id in [c.id for c in client.conversations.list(agent_id=agent.id)]


def main(base):
    client = Letta(base_url=base, max_retries=0, _strict_response_validation=True)
    assert client.health().status == "ok"
    assert MODEL in [m.handle for m in client.models.list()]
    assert EMBEDDING in [m.handle for m in client.models.embeddings.list()]
    agents(client)
    agent, answer = messages(client)
    memory(client, agent)
    tools(client)
    runs(client, agent, answer)
    conversations(client, agent)
    print("the tour is over")


main(sys.argv[1])
