/** `correctables/rxjs`: Correctables and observables, both ways. Needs the package `rxjs`. */
export {
  fromObservable,
  type EmittedView,
  type FromObservableOptions,
  type ViewOption,
} from './from-observable.ts';
export { atLeast, finalOnly, values } from './view-operators.ts';
export { toObservable } from './to-observable.ts';
