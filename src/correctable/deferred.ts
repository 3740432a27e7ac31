/** A native promise with its resolving functions, made without a closure of its own (C5). */

let takenResolve: (value: never) => void;
let takenReject: (error: unknown) => void;

/** One executor for all promises: none needs a new one. */
function take(resolve: (value: never) => void, reject: (error: unknown) => void): void {
  takenResolve = resolve;
  takenReject = reject;
}

export class Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;

  constructor() {
    this.promise = new Promise<T>(take as (resolve: (value: T) => void, reject: (error: unknown) => void) => void);
    this.resolve = takenResolve as (value: T) => void;
    this.reject = takenReject;
  }
}
