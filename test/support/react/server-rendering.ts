/** Scenarios of server rendering: `dehydrate` on a server and `Hydrate` in the page. */
import { createElement as h, Suspense, type ReactNode } from 'react';
import { renderToReadableStream } from 'react-dom/server.browser';
import { createClient, type Client } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { dehydrate, Hydrate, prefetch, type DehydratedState } from '../../../src/react/index.ts';
import { scriptedBinding, type ScriptedBinding } from '../../../src/testing/scripted-binding.ts';
import type { Scenario } from './reading.ts';
import { idle, LEVELS, page, same, Shown, until, type Stage, type StageLevels } from './stage.ts';

const A = get('a');

interface Server {
  readonly binding: ScriptedBinding<StageLevels>;
  readonly client: Client<StageLevels>;
}

function openServer(): Server {
  const binding = scriptedBinding(LEVELS);
  return { binding, client: createClient(binding) };
}

/** Hydrates as a component below the same boundaries as at the server. */
const below = (state: DehydratedState, node: ReactNode): ReactNode =>
  h(Hydrate, { state, children: node });

async function render(
  { client }: Server,
  node: ReactNode,
): Promise<{ html: string; state: DehydratedState }> {
  const stream = await renderToReadableStream(page(client, below([], node)));
  await stream.allReady;
  const html = await new Response(stream).text();
  return { html, state: JSON.parse(JSON.stringify(dehydrate(client))) as DehydratedState };
}

async function settle(stage: Stage): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await idle();
  same(
    stage.log.filter((line) => line.startsWith('mismatch')),
    [],
  );
}

export const serverRendering: Readonly<Record<string, Scenario>> = {
  async 'a read has no view yet when the server dehydrates → is left out'() {
    const { binding, client } = openServer();
    const fetched = prefetch(client, A);
    void prefetch(client, get('b'));
    (await binding.next()).view(1, 'strong');
    await fetched;
    same(
      dehydrate(client).map(({ operation }) => operation.key),
      ['a'],
    );
  },

  async 'the server has rendered a final view → the page shows it without a request'(stage) {
    const server = openServer();
    const node = h(Shown, { stage, operation: A });
    const rendering = render(server, node);
    (await server.binding.next()).view([1], 'strong', { version: 7 });
    const { html, state } = await rendering;
    stage.hydrate(html, below(state, node));
    await stage.shows('[1] strong');
    await settle(stage);
    same(stage.binding.calls.length, 0);
    same(state[0]!.views[0]!.version, 7);
  },

  async 'the server has rendered a preliminary view → the page shows it, and asks only for what is stronger'(
    stage,
  ) {
    const server = openServer();
    const node = h(Shown, { stage, operation: A });
    const rendering = render(server, node);
    (await server.binding.next()).view(1, 'weak');
    const { html, state } = await rendering;
    stage.hydrate(html, below(state, node));
    const call = await stage.binding.next();
    await stage.shows('1 weak…');
    same(call.levels, ['causal', 'strong']);
    call.view(2, 'strong');
    await stage.shows('2 strong');
    await settle(stage);
    same(stage.binding.calls.length, 1);
  },

  async 'a final view reached the server after it had rendered → hydration repeats the page, then shows the final view'(
    stage,
  ) {
    const server = openServer();
    const rendered: ReactNode[] = [];
    const First = (): ReactNode => {
      const text = Shown({ stage, operation: A });
      rendered.push(text);
      return text;
    };
    const inside = h(
      Suspense,
      { key: 2, fallback: 'wait' },
      h(Shown, { stage, operation: A, until: 'strong' }),
    );
    const node = [h(First, { key: 1 }), inside];
    const rendering = render(server, node);
    const call = await server.binding.next();
    call.view(1, 'weak');
    await until(() => rendered.includes('1 weak…'));
    call.confirm('strong', 0);
    const { html, state } = await rendering;
    same([html.includes('1 weak…'), html.includes('1 strong')], [true, true]);
    same(
      state[0]!.views.map((view) => 'value' in view),
      [true, false],
    );
    stage.hydrate(html.replaceAll(/<script[\s\S]*?<\/script>/g, ''), below(state, node));
    await stage.shows('1 strong1 strong');
    await idle();
    same(stage.binding.calls.length, 0);
  },
};
