/** The elements as Vue components: `import { ReelfeedFeed } from '@reelfeed/player/vue'`. */
import { defineComponent, h, onMounted, type PropType } from 'vue';
import { attributesOf, load, type CommonProps, type ElementName, type Given } from './framework.ts';
import { type ReelfeedEvent, type ReelfeedItem } from './types.ts';

const text = String as PropType<string>;

const common = {
  src: { type: text, required: true as const },
  publishableKey: { type: text, required: true as const },
  userId: text,
  userSignature: text,
  tags: Array as PropType<readonly string[]>,
  section: text,
  shareUrl: text,
  axis: String as PropType<'vertical' | 'horizontal'>,
  texts: Object as PropType<NonNullable<CommonProps['texts']>>,
  getToken: Function as PropType<NonNullable<CommonProps['getToken']>>,
  articleCard: Function as PropType<NonNullable<CommonProps['articleCard']>>,
};

const emits = {
  event: (_event: ReelfeedEvent) => true,
  slide: (_item: ReelfeedItem) => true,
  error: (_error: ErrorEvent) => true,
};

type Emit = {
  (name: 'event', event: ReelfeedEvent): void;
  (name: 'slide', item: ReelfeedItem): void;
  (name: 'error', error: ErrorEvent): void;
};

/** Renders the element with attributes, properties and listeners. */
function draw(name: ElementName, props: Given, emit: Emit, overlay: unknown) {
  const { texts, getToken, articleCard } = props;
  return h(
    name,
    {
      ...attributesOf(props),
      // The dot sets a property instead of an attribute. Server-side rendering omits it.
      '.texts': texts ?? {},
      '.getToken': getToken ?? null,
      '.articleCard': articleCard ?? null,
      'onReelfeed-event': ({ detail }: CustomEvent<ReelfeedEvent>) => emit('event', detail),
      'onReelfeed-slide': ({ detail }: CustomEvent<ReelfeedItem>) => emit('slide', detail),
      onError: (error: ErrorEvent) => emit('error', error),
    },
    overlay === undefined ? [] : [h('div', { slot: 'overlay' }, overlay as never)],
  );
}

export const ReelfeedFeed = defineComponent({
  name: 'ReelfeedFeed',
  props: { ...common, start: text },
  emits,
  setup(props, { emit, slots }) {
    onMounted(() => void load('reelfeed-feed'));
    return () => draw('reelfeed-feed', props, emit, slots['default']?.());
  },
});

export const ReelfeedPlayer = defineComponent({
  name: 'ReelfeedPlayer',
  props: { ...common, contentId: { type: text, required: true as const } },
  emits,
  setup(props, { emit, slots }) {
    onMounted(() => void load('reelfeed-player'));
    return () => draw('reelfeed-player', props, emit, slots['default']?.());
  },
});

export const ReelfeedShelf = defineComponent({
  name: 'ReelfeedShelf',
  props: { ...common, count: Number },
  emits,
  setup(props, { emit, slots }) {
    onMounted(() => void load('reelfeed-shelf'));
    return () => draw('reelfeed-shelf', props, emit, slots['default']?.());
  },
});
