/**
 * Parts of production with some methods replaced, and parts that are created from other arguments:
 * the two ways in which a test plants a fault. Both return a class to be used instead, and leave
 * the original class as it is. So production needs no hooks beside its tables of parts.
 */

/** Any class. Constructors of all arguments are assignable to it. */
type PartClass = new (...args: never[]) => object;

/** The replacements. No other names than those of the part's public methods and getters. */
type Replacements<Part, Methods> = Methods & Record<Exclude<keyof Methods, keyof Part>, never>;

/**
 * Returns a class whose instances have other methods and getters.
 *
 * The methods are replaced after the constructor has run, so what the constructor calls is
 * unchanged. Methods may be replaced several times, one class on top of the other.
 *
 * @param replace is called for each instance, with its original and the arguments of the
 *   constructor, and returns the replacements. `original` is the instance with the methods that it
 *   had before.
 * @throws if the part has no method or getter of such a name
 */
export function replaceMethods<
  Class extends PartClass,
  Methods extends Partial<InstanceType<Class>>,
>(
  part: Class,
  replace: (
    original: InstanceType<Class>,
    ...args: ConstructorParameters<Class>
  ) => Replacements<InstanceType<Class>, Methods>,
): Class {
  return new Proxy(part, {
    construct(target, args: ConstructorParameters<Class>) {
      const instance = new target(...(args as never[])) as InstanceType<Class>;
      const earlier = new Map<PropertyKey, PropertyDescriptor>();
      const methods = replace(createOriginal(instance, earlier), ...args);
      const descriptors = Object.getOwnPropertyDescriptors(methods);
      for (const name of Object.keys(descriptors))
        earlier.set(name, findDescriptor(instance, name));
      return Object.defineProperties(instance, descriptors) as InstanceType<Class>;
    },
  });
}

/** Returns a class that creates instances from other arguments than it gets. */
export function replaceArguments<
  Class extends PartClass,
  Args extends readonly [unknown, ...unknown[]] & ConstructorParameters<Class>,
>(part: Class, replace: (...args: ConstructorParameters<Class>) => Args): Class {
  return new Proxy(part, {
    construct: (target, args: ConstructorParameters<Class>) =>
      new target(...(replace(...args) as never[])),
  });
}

/** Returns the instance with the methods that it had earlier. */
function createOriginal<Part extends object>(
  instance: Part,
  earlier: ReadonlyMap<PropertyKey, PropertyDescriptor>,
): Part {
  return new Proxy(instance, {
    get(_, name): unknown {
      const descriptor = earlier.get(name);
      const value: unknown =
        descriptor === undefined
          ? Reflect.get(instance, name)
          : (descriptor.get?.call(instance) ?? descriptor.value);
      return typeof value === 'function' ? (value.bind(instance) as unknown) : value;
    },
    set: (_, name, value) => Reflect.set(instance, name, value),
  });
}

function findDescriptor(instance: object, name: string): PropertyDescriptor {
  let owner: object | null = instance;
  while (owner !== null) {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name);
    if (descriptor !== undefined) return descriptor;
    owner = Object.getPrototypeOf(owner) as object | null;
  }
  throw new Error(`${instance.constructor.name} has no "${name}" that could be replaced`);
}
