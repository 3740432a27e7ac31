/** The binding of one site of a causal store. */
import { CausalSession } from '../../causal/session.ts';
import { createZeroVector, maxVector, type Vector } from '../../causal/stamps.ts';
import {
  bindMethods,
  type Binding,
  type BindingSession,
  type InvocationContext,
  type Sink,
} from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { OperationRun } from './operation-run.ts';
import { isSupported, parseOperation } from './parse-operation.ts';
import { ReadRun } from './read-run.ts';
import { CAUSAL_LEVELS, type CausalLevels, type SiteHost, type VectorTokens } from './site-host.ts';
import { WriteRun } from './write-run.ts';

/** What a session of a client has seen. It can be continued at another site by its token. */
class ClientSession implements BindingSession {
  readonly causal: CausalSession;
  readonly #tokens: VectorTokens;

  constructor(tokens: VectorTokens, dependencies: Vector) {
    this.#tokens = tokens;
    this.causal = new CausalSession(dependencies);
  }

  get tokens(): readonly string[] {
    return [this.#tokens.seal(this.causal.dependencies)];
  }
}

export class CausalBinding implements Binding<CausalLevels> {
  readonly name: string;
  /** Absent if the binding belongs to one client, which closes it. */
  readonly openHandle?: () => Binding<CausalLevels>;
  readonly #host: SiteHost;
  readonly #runs = new Set<OperationRun>();
  readonly #handles = new Set<CausalBinding>();
  #closing: Promise<void> | undefined;

  constructor(host: SiteHost) {
    this.#host = host;
    this.name = host.name;
    if (host.isShared) this.openHandle = () => this.#openHandle();
    bindMethods(this);
  }

  get failure(): CorrectableError | undefined {
    return this.#host.failure;
  }

  consistencyLevels(): CausalLevels {
    return CAUSAL_LEVELS;
  }

  supports(operation: Operation): boolean {
    return isSupported(operation);
  }

  openSession(tokens: readonly string[] = []): BindingSession {
    const { siteCount, tokens: format } = this.#host;
    const vectors = tokens.map((token) => format.open(token));
    return new ClientSession(format, vectors.reduce(maxVector, createZeroVector(siteCount)));
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly CausalLevels[number][],
    sink: Sink<T, CausalLevels[number]>,
    context: InvocationContext,
  ): void {
    if (this.#closing !== undefined) throw createClosedError();
    if (this.#host.failure !== undefined) throw this.#host.failure;
    const parsed = parseOperation(operation);
    this.#host.checkKeys(parsed.access === 'write' ? [parsed.key] : parsed.keys);
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
      parsed.access === 'write'
        ? new WriteRun(call, this.#host.encode(parsed))
        : new ReadRun(call, parsed);
    this.#runs.add(run);
    run.start();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#handles].map((handle) => handle.close()));
    await Promise.all([...this.#runs].map((run) => run.close(createClosedError())));
    if (!this.#host.isShared) await this.#host.close();
  }

  #openHandle(): Binding<CausalLevels> {
    const handle = new CausalBinding(this.#host);
    handle.#closing = this.#closing;
    this.#handles.add(handle);
    return handle;
  }
}

function createClosedError(): CorrectableError {
  const message = 'The causal store is closed. The operation was not executed. Create another.';
  return new CorrectableError('UNAVAILABLE', message, { retryable: false });
}
