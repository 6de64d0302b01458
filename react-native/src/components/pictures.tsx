import { useEffect, useRef, useState, type ReactElement } from 'react';
import { FlatList, Image, StyleSheet, Text, View } from 'react-native';
import { type CarouselImage } from '@reelfeed/client';
import { type Slide } from '@reelfeed/client/playing';
import { failureOf, type FeedModel } from '../feed-model.ts';
import { type Texts } from '../texts.ts';
import { type ClipProps } from './clip.tsx';

type PicturesProps = Pick<ClipProps, 'isWatched' | 'onFail'> & {
  readonly slide: Slide;
  readonly model: FeedModel;
  readonly pictures: readonly CarouselImage[];
  readonly width: number;
  readonly texts: Texts;
};

/** A carousel's images, one per page, swiped sideways. */
export function Pictures(props: PicturesProps): ReactElement {
  const { slide, model, pictures, width, isWatched, texts, onFail } = props;
  const [place, setPlace] = useState(0);
  const list = useRef<FlatList<CarouselImage>>(null);
  const permitted = usePermitted(slide, model, onFail);
  useEffect(() => {
    const seconds = slide.item.autoScrollInterval;
    if (!isWatched || seconds === null || seconds <= 0 || pictures.length < 2) return undefined;
    const timer = setTimeout(() => {
      const next = (place + 1) % pictures.length;
      list.current?.scrollToIndex({ index: next });
    }, seconds * 1_000);
    return () => clearTimeout(timer);
  }, [isWatched, place, pictures.length]);
  return (
    <View style={styles.fill}>
      <FlatList
        ref={list}
        horizontal
        pagingEnabled
        data={pictures}
        keyExtractor={({ id }) => id}
        getItemLayout={(_data, index) => ({ length: width, offset: width * index, index })}
        showsHorizontalScrollIndicator={false}
        scrollEventThrottle={50}
        onScroll={({ nativeEvent }) => {
          if (width > 0) setPlace(Math.round(nativeEvent.contentOffset.x / width));
        }}
        renderItem={({ item, index }) => (
          <Image
            accessible
            accessibilityLabel={item.altText ?? texts.pictureOf(index + 1, pictures.length)}
            source={{ uri: permitted?.get(item.id) ?? item.imageUrl }}
            style={{ width, height: '100%' }}
            resizeMode="contain"
          />
        )}
      />
      {pictures.length > 1 && (
        <Text style={styles.place} accessibilityLabel={texts.pictureOf(place + 1, pictures.length)}>
          {`${place + 1} / ${pictures.length}`}
        </Text>
      )}
    </View>
  );
}

/** Addresses of protected images by id; null if none are needed or they are not known yet. */
function usePermitted(
  slide: Slide,
  model: FeedModel,
  onFail: ClipProps['onFail'],
): ReadonlyMap<string, string> | null {
  const [permitted, setPermitted] = useState<ReadonlyMap<string, string> | null>(null);
  useEffect(() => {
    if (!slide.item.protected) return undefined;
    let isHere = true;
    model.mediaOf(slide).then(
      ({ images }) =>
        isHere && setPermitted(new Map(images.map(({ id, imageUrl }) => [id, imageUrl]))),
      (error: unknown) => isHere && onFail(failureOf(error)),
    );
    return () => {
      isHere = false;
    };
  }, [slide.id, model]);
  return permitted;
}

const styles = StyleSheet.create({
  fill: { flex: 1 },
  place: {
    position: 'absolute',
    top: 56,
    right: 16,
    paddingHorizontal: 8,
    paddingVertical: 2,
    borderRadius: 10,
    overflow: 'hidden',
    color: '#fff',
    backgroundColor: 'rgba(0, 0, 0, 0.5)',
    fontSize: 13,
  },
});
