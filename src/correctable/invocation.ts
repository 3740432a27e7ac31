/** One operation on its way to a store: the sink that the binding feeds, and the context that it gets. */
import type { BindingSession, InvocationContext } from './binding.ts';
import { Source } from './source.ts';

export class Invocation<T> extends Source<T> implements InvocationContext {
  session: BindingSession | undefined;
  trace: unknown;
  override mayTakeEffect = false;
}
