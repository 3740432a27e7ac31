/** The binding of one site of a causal store. */
import { CausalSession } from '../../causal/session.ts';
import { createZeroVector, type SiteIndex, type Vector } from '../../causal/stamps.ts';
import {
  bindMethods,
  type Binding,
  type BindingSession,
  type InvocationContext,
  type Sink,
} from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { isSupported, parseOperation } from './parse-operation.ts';
import { ReadRun, WriteRun, type OperationRun } from './operation-runs.ts';
import { CAUSAL_LEVELS, type CausalLevels, type SiteHost } from './site-host.ts';
import { formatToken, parseTokens } from './session-tokens.ts';

/** What a session of a client has seen. It can go on at another site with its token. */
class ClientSession implements BindingSession {
  readonly causal: CausalSession;
  readonly #site: SiteIndex;

  constructor(site: SiteIndex, dependencies: Vector) {
    this.#site = site;
    this.causal = new CausalSession(dependencies);
  }

  get tokens(): readonly string[] {
    return [formatToken(this.#site, this.causal.dependencies)];
  }
}

export class CausalBinding implements Binding<CausalLevels> {
  readonly name = 'causal';
  readonly #host: SiteHost;
  readonly #runs = new Set<OperationRun>();
  readonly #handles = new Set<CausalBinding>();
  #isClosed = false;

  constructor(host: SiteHost) {
    this.#host = host;
    bindMethods(this);
  }

  consistencyLevels(): CausalLevels {
    return CAUSAL_LEVELS;
  }

  supports(operation: Operation): boolean {
    return isSupported(operation);
  }

  openHandle(): Binding<CausalLevels> {
    const handle = new CausalBinding(this.#host);
    handle.#isClosed = this.#isClosed;
    this.#handles.add(handle);
    return handle;
  }

  openSession(tokens: readonly string[] = []): BindingSession {
    const { site, siteCount, getHighestStamp } = this.#host;
    return new ClientSession(site, parseTokens(tokens, { siteCount, getHighestStamp }));
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly CausalLevels[number][],
    sink: Sink<T, CausalLevels[number]>,
    context: InvocationContext,
  ): void {
    if (this.#isClosed) throw createClosedError();
    const parsed = parseOperation(operation);
    const session =
      context.session instanceof ClientSession
        ? context.session.causal
        : new CausalSession(createZeroVector(this.#host.siteCount));
    const call = {
      host: this.#host,
      levels,
      sink: sink as Sink<unknown, CausalLevels[number]>,
      context,
      session,
      onEnded: () => this.#runs.delete(run),
    };
    const run: OperationRun =
      parsed.access === 'write' ? new WriteRun(call, parsed) : new ReadRun(call, parsed);
    this.#runs.add(run);
    run.start();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const handle of this.#handles) await handle.close();
    for (const run of this.#runs) run.fail(createClosedError());
  }
}

function createClosedError(): CorrectableError {
  const message = 'The causal store is closed. The operation was not executed. Create another.';
  return new CorrectableError('UNAVAILABLE', message, { retryable: false });
}
