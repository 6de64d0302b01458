import { useRef, type ReactElement } from 'react';
import { Pressable, StyleSheet, Text, View } from 'react-native';
import AsyncStorage from '@react-native-async-storage/async-storage';
import {
  ReelfeedFeed,
  ReelfeedProvider,
  useReelfeedEvents,
  type ReelfeedFeedHandle,
} from '@reelfeed/react-native';

// Set when the app is bundled. In a browser, the address may override them: `?service=…&key=…`.
const address = new URLSearchParams(globalThis.location?.search ?? '');
const baseUrl =
  address.get('service') ?? process.env['EXPO_PUBLIC_REELFEED'] ?? 'http://localhost:4000';
const publishableKey = address.get('key') ?? process.env['EXPO_PUBLIC_REELFEED_KEY'] ?? '';

export function App(): ReactElement {
  if (publishableKey === '') {
    return <Text style={styles.notice}>Set EXPO_PUBLIC_REELFEED_KEY to a publishable key.</Text>;
  }
  return (
    <ReelfeedProvider
      baseUrl={baseUrl}
      publishableKey={publishableKey}
      storage={AsyncStorage}
      appVersion="0.1.0"
    >
      <Screen />
    </ReelfeedProvider>
  );
}

function Screen(): ReactElement {
  const feed = useRef<ReelfeedFeedHandle>(null);
  const events = useReelfeedEvents();
  return (
    <View style={styles.screen}>
      <ReelfeedFeed ref={feed} texts={{ like: 'Applaud' }} />
      <View style={styles.bar}>
        <BarButton label="Refresh" onPress={() => feed.current?.refresh()} />
        <BarButton label="Next" onPress={() => feed.current?.step(1)} />
        <BarButton label="Send" onPress={() => void events.flush()} />
      </View>
    </View>
  );
}

function BarButton(props: { readonly label: string; readonly onPress: () => void }): ReactElement {
  return (
    <Pressable style={styles.button} accessibilityRole="button" onPress={props.onPress}>
      <Text style={styles.label}>{props.label}</Text>
    </Pressable>
  );
}

const styles = StyleSheet.create({
  screen: { flex: 1, backgroundColor: '#000' },
  bar: { position: 'absolute', top: 8, left: 8, flexDirection: 'row', gap: 8 },
  button: { minHeight: 44, paddingHorizontal: 12, justifyContent: 'center' },
  label: { color: '#fff', fontSize: 15, fontWeight: '600' },
  notice: { padding: 32, fontSize: 16 },
});
