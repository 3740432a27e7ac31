/**
 * What a site returns for an update, as views: a preliminary view that failed never replaces the
 * final one.
 */
// @rule RB-V7
import { expect, test } from 'vitest';
import type { InvocationContext, Sink } from '../../../../../src/correctable/binding.ts';
import { CorrectableError, createClient } from '../../../../../src/index.ts';
import { enqueue } from '../../../../../src/operations/index.ts';
import {
  SiteBinding,
  type SubmissionPort,
} from '../../../../../src/server/node/submission/site-binding.ts';
import {
  type Submitter,
  deliverView,
} from '../../../../../src/server/node/submission/submitter.ts';
import { getOperationPlans } from '../../../../../src/server/service/operation-plan.ts';
import { ticketService, tickets } from '../../site/services.ts';
import { EncodingSink } from '../../../../../src/protocol/hosting.ts';
import { checkOperationOf } from '../../../../support/checked-operation.ts';
import type { RedBlueLevel } from '../../../../../src/protocol/redblue-levels.ts';
import { siteAt } from '../../../../support/origins.ts';
import { Origins } from '../../../../../src/server/service/records/origin.ts';

/** A site whose results come from the test. */
function scripted(deliver: (submitter: Submitter) => void): SiteBinding {
  const tokens = { seal: () => '', open: () => [0] };
  const submit: SubmissionPort['submit'] = (submitter) => queueMicrotask(() => deliver(submitter));
  return new SiteBinding('ireland', {
    contract: tickets,
    plans: getOperationPlans(ticketService),
    site: siteAt(0),
    origins: Origins.create(['ireland']),
    tokens,
    submit,
    endSubmissions() {},
  });
}

const noGuess = new CorrectableError('CONFLICT', 'the guess could not be made');
const final = (submitter: Submitter): void =>
  submitter.onView('strong', { value: null }, undefined);

test.each([
  ['fails', (submitter: Submitter) => submitter.onFailure(noGuess, 'tentative')],
  ['never comes, as for a resend', () => {}],
])(
  'red write: the preliminary view %s, and nothing else was requested → the final view is delivered',
  async (_what, guess) => {
    const site = scripted((submitter) => {
      guess(submitter);
      queueMicrotask(() => final(submitter));
    });
    const views = [];
    const client = createClient(site);
    for await (const view of client.invoke(enqueue('q', 1), { levels: ['tentative'] }))
      views.push(view);
    expect(views).toMatchObject([{ level: 'strong', final: true }]);
  },
);

test('red write: the preliminary view came, and nothing else was requested → no second view', async () => {
  const client = createClient(
    scripted((submitter) => {
      submitter.onView('tentative', { value: null }, undefined);
      final(submitter);
    }),
  );
  const views = [];
  for await (const view of client.invoke(enqueue('q', 1), { levels: ['tentative'] }))
    views.push(view);
  expect(views).toMatchObject([{ level: 'tentative', final: true }]);
  expect(client.drops).toMatchObject({ closed: 0 });
});

test('red write: the write itself fails → the failure is delivered, whichever levels were requested', async () => {
  const client = createClient(scripted((submitter) => submitter.onFailure(noGuess, undefined)));
  const failing = client.invoke(enqueue('q', 1), { levels: ['tentative'] });
  await expect(failing).rejects.toMatchObject({ code: 'CONFLICT' });
});

test('a caller changes the data of a failure → a resend gets what the site keeps', async () => {
  const data = { left: 0, seats: ['1a'] };
  const retained = new CorrectableError('DOMAIN', 'take: soldOut', {
    field: 'f',
    domain: { name: 'soldOut', data },
  });
  const client = createClient(scripted((submitter) => submitter.onFailure(retained, undefined)));
  const failureOf = async (): Promise<CorrectableError> =>
    (await client.invoke(enqueue('q', 1)).catch((error: unknown) => error)) as CorrectableError;
  const first = await failureOf();
  const reported = first.domain!.data as typeof data;
  reported.left = 777;
  reported.seats.push('2b');
  Object.assign(first, { message: 'changed' });
  const second = await failureOf();
  expect(second).toMatchObject({
    code: 'DOMAIN',
    field: 'f',
    retryable: false,
    message: 'take: soldOut',
  });
  expect(second.domain).toMatchObject({ name: 'soldOut', data: { left: 0, seats: ['1a'] } });
  expect(data).toEqual({ left: 0, seats: ['1a'] });
});

test('a sink that throws at a guess, where nothing else was requested → the end answers', async () => {
  const site = scripted((submitter) => {
    deliverView(submitter, { stage: 'tentative', reply: { value: null }, isLast: false });
    deliverView(submitter, { stage: 'strong', reply: { value: null }, isLast: true });
  });
  const heard: unknown[] = [];
  await new Promise<void>((resolve) => {
    const update = (_value: unknown, level: string): number => {
      heard.push(level);
      throw new Error('thrown at a view');
    };
    const fail = (error: unknown): void => resolve(void heard.push(error));
    const sink = { view: update, fail, confirm: () => {} } as unknown as Sink<unknown>;
    site.submitOperation(enqueue('q', 1), ['tentative'], sink, {} as InvocationContext);
  });
  expect(heard).toEqual(['tentative', 'strong', expect.objectContaining({ code: 'UNKNOWN' })]);
});

test.each(['weak', 'toString', ''])(
  'a level %o, which there is not → UNKNOWN_LEVEL, and nothing is submitted',
  (level) => {
    const submitted: unknown[] = [];
    const site = scripted((submitter) => submitted.push(submitter));
    const failures: unknown[] = [];
    const sink = { fail: (error: unknown) => failures.push(error) } as unknown as Sink<never>;
    const submit = (): unknown =>
      site.submitOperation(
        enqueue('q', 1) as never,
        [level] as never,
        sink,
        {} as InvocationContext,
      );
    const unknown = expect.objectContaining({
      code: 'UNKNOWN_LEVEL',
      message: expect.stringContaining('only tentative'),
    });
    try {
      submit();
    } catch (error) {
      failures.push(error);
    }
    expect([failures, submitted]).toEqual([[unknown], []]);
  },
);

test('an operation that was prepared for another handle is checked again, as one that a client of this process submits', () => {
  const submitted: Submitter[] = [];
  const site = scripted((submitter) => submitted.push(submitter));
  const other = site.openHandle();
  const prepared = site.prepareOperation('enqueue', tickets.operations.enqueue)!;
  const operation = checkOperationOf('enqueue', { queue: 'q', item: 1 }, tickets, prepared);
  const sink = new (class extends EncodingSink {
    view = () => 0;
    confirm() {}
    fail() {}
  })() as unknown as Sink<unknown, RedBlueLevel>;
  const context = { signal: new AbortController().signal, operationId: 'a' } as InvocationContext;
  for (const handle of [site, other])
    handle.submitOperation(operation as never, ['strong'], sink, context);
  return Promise.resolve().then(() => {
    const [trusted, checked] = submitted.map(({ args }) => args);
    expect(trusted).toBe(operation.args);
    expect(checked).not.toBe(operation.args);
    expect(checked).toEqual(operation.args);
  });
});

test('an operation of another contract with the same name is not prepared', () => {
  const site = scripted(() => {});
  expect(site.prepareOperation('enqueue', { ...tickets.operations.enqueue })).toBeUndefined();
  expect(site.prepareOperation('toString', tickets.operations.enqueue)).toBeUndefined();
});
