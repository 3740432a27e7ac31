/** For those who write or test bindings: the contract suite, a binding played by hand, a clock that stands still. */
export { bindingContract } from './binding-contract.ts';
export type { ContractSubject, Expectation, OpenBinding, TestRunner } from './binding-contract.ts';
export { scriptedBinding } from './scripted-binding.ts';
export type { ScriptedBinding, ScriptedCall, ScriptedOptions } from './scripted-binding.ts';
export { plainService } from './plain-service.ts';
export { virtualClock } from './virtual-clock.ts';
export type { VirtualClock } from './virtual-clock.ts';
