/** Gives a principal to operations that no gateway has authenticated: those of this process. */
import type { Binding, InvocationContext, Principal } from '../../../correctable/binding.ts';
import { check, CorrectableError } from '../../../correctable/errors.ts';
import { checkRecord, isBinding } from '../../../correctable/validate.ts';
import { isWellFormed } from '../../../protocol/codec/tagged-values.ts';

const CALL = "withPrincipal(deployment.site('ireland'), { id: 'ada' })";

/** The inner binding of each binding created here. A second principal replaces the first. */
const INNER_BINDINGS = new WeakMap<Binding, Binding>();

/**
 * Returns a binding that submits every operation for `principal`, for example in a test or behind a
 * web server that has authenticated its user. Generators get it as `principal`. It stands for the
 * binding that you pass: clients of both share its state. Closing a client of a site ends only its
 * own operations; a client of another binding closes that binding.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the value is no binding, or the principal has no
 * `id`. `UNSUPPORTED` for a binding that sends operations to a server, such as `redblue`: there the
 * token of the connection names the user.
 * @example const site = shop.site('ireland');
 * const ada = createClient(withPrincipal(site, { id: 'ada' }));
 * const bob = createClient(withPrincipal(site, { id: 'bob' }));
 */
export function withPrincipal<B extends Binding>(binding: B, principal: Principal): B {
  check(isBinding(binding), 'binding', `must be a binding: write ${CALL}`);
  checkPrincipal(principal, 'principal');
  if (binding.identifiesByConnection === true) {
    const message = `withPrincipal(): ${binding.name} sends operations to a server, which knows the user by the token of the connection. Create a client for each user, with the user's token.`;
    throw new CorrectableError('UNSUPPORTED', message, { field: 'binding' });
  }
  const inner = (INNER_BINDINGS.get(binding) as B | undefined) ?? binding;
  return wrap(inner, principal);
}

/** @throws CorrectableError `INVALID_ARGUMENT` with the field if it is no principal */
export function checkPrincipal(value: unknown, field: string): asserts value is Principal {
  checkRecord(value, { call: CALL, field });
  const { id } = value as { readonly id?: unknown };
  check(
    typeof id === 'string' && isWellFormed(id),
    `${field}.id`,
    `must be a well-formed string: write ${CALL}`,
  );
}

function wrap<B extends Binding>(binding: B, principal: Principal): B {
  const replaced: Partial<Record<string | symbol, unknown>> = {
    // A cache in front of the binding uses it to separate views of users.
    principal: () => principal.id,
    submitOperation: (...[operation, levels, sink, context]: Parameters<B['submitOperation']>) =>
      binding.submitOperation(operation, levels, sink, replacePrincipal(context, principal)),
    openHandle: binding.openHandle && (() => wrap(binding.openHandle!() as B, principal)),
  };
  const wrapped = new Proxy(binding, {
    get: (target, name): unknown => {
      if (Object.hasOwn(replaced, name)) return replaced[name];
      const part: unknown = Reflect.get(target, name, target);
      return typeof part === 'function' ? (part.bind(target) as unknown) : part;
    },
  });
  INNER_BINDINGS.set(wrapped, binding);
  return wrapped;
}

/** A copy of the context would create the signal, which most operations never use. */
function replacePrincipal(context: InvocationContext, principal: Principal): InvocationContext {
  return new Proxy(context, {
    get: (outer, name): unknown => (name === 'principal' ? principal : Reflect.get(outer, name)),
    set: (outer, name, value) => Reflect.set(outer, name, value),
  });
}
