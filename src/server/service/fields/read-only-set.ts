/** Sets that generators may read and nobody changes: whoever tries is told at once, as with frozen values. */

function refusal(action: string): PropertyDescriptor {
  const value = (): never => {
    throw new TypeError(`Cannot ${action}: a set that was read is not changed. Return a shadow operation that does.`);
  };
  return { value };
}

const REFUSALS = { add: refusal('add'), delete: refusal('delete'), clear: refusal('clear') };

/** A set of these elements. It is a plain one to whoever compares or copies it, so no class of its own. */
export function readOnlySet<T>(elements: Iterable<T> = []): ReadonlySet<T> {
  return Object.defineProperties(new Set(elements), REFUSALS);
}
