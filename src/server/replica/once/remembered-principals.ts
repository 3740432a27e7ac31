/**
 * What is remembered of each principal, over all its clients: who takes many names has one share all the same. Gateways
 * name clients `principal/client`; a client whose name does not say whose it is stands for itself.
 */
import { Fifo } from '../../collections/fifo.ts';
import { isHeld, type Held, type PrincipalEntry } from './remembered.ts';

/** What has left stays in an order up to so many times what is held there, and so many more. */
const LEFT_SHARE = 2;
const LEFT_MIN = 64;

/** The principals of one table. */
export class RememberedPrincipals<T> {
  readonly #principals = new Map<string, PrincipalEntry<T>>();

  /** A client comes: whose it is, if its name says so. */
  enter(client: string): PrincipalEntry<T> | undefined {
    const name = client.slice(0, Math.max(0, client.indexOf('/')));
    if (name === '') return undefined;
    let principal = this.#principals.get(name);
    if (principal === undefined) {
      principal = { name, clients: 0, size: 0, bytes: 0, order: new Fifo() };
      this.#principals.set(name, principal);
    }
    principal.clients += 1;
    return principal;
  }

  /** One of its clients is forgotten. */
  leave(principal: PrincipalEntry<T> | undefined): void {
    if (principal === undefined) return;
    principal.clients -= 1;
    if (principal.clients === 0) this.#principals.delete(principal.name);
  }

  /** An operation is held from now on. */
  came(held: Held<T>): void {
    const { principal } = held.entry;
    if (principal === undefined) return;
    principal.order.push(held);
    principal.size += 1;
  }

  /** One of its operations is not held any more. */
  left(principal: PrincipalEntry<T> | undefined): void {
    if (principal === undefined) return;
    principal.size -= 1;
    takeLeft(principal.order);
    if (principal.order.size <= LEFT_SHARE * principal.size + LEFT_MIN) return;
    principal.order = new Fifo(principal.order.slice().filter(isHeld));
  }

  /** The one of its operations that came first, of those that are held; there must be one. */
  oldestOf({ order }: PrincipalEntry<T>): Held<T> {
    takeLeft(order);
    return order.at(0) as Held<T>;
  }
}

/** What has left is at the front mostly. */
function takeLeft<T>(order: Fifo<Held<T>>): void {
  for (let next = order.at(0); next !== undefined && !isHeld(next); next = order.at(0)) order.shift();
}
