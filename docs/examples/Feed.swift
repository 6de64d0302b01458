// Swift 5.9 or newer, iOS 15 or newer. Nothing to install.
import Foundation

struct FeedItem: Decodable { let id: String; let title: String; let streamingUrl: String?; let thumbnailUrl: String? }
struct FeedPage: Decodable { let data: [FeedItem] }
struct EventData: Encodable { var position: Int?; var startupTime: Int? }
struct Event: Encodable { let eventId: String; let event: String; let contentId: String; let userId: String; var data: EventData? }
struct Batch: Encodable { let events: [Event] }

struct Reelfeed {
    let service: URL
    let publishableKey: String

    func feed(userId: String, limit: Int = 10) async throws -> FeedPage {
        let data = try await call("/v1/feed?userId=\(userId)&limit=\(limit)")
        return try JSONDecoder().decode(FeedPage.self, from: data)
    }

    func send(_ events: [Event]) async throws {
        _ = try await call("/v1/events/batch", body: JSONEncoder().encode(Batch(events: events)))
    }

    private func call(_ path: String, body: Data? = nil) async throws -> Data {
        var request = URLRequest(url: URL(string: path, relativeTo: service)!)
        request.setValue("Bearer \(publishableKey)", forHTTPHeaderField: "Authorization")
        if let body {
            request.httpMethod = "POST"
            request.httpBody = body
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let answer = response as? HTTPURLResponse, answer.statusCode < 300 else {
            throw URLError(.badServerResponse)
        }
        return data
    }
}

func watch(with reelfeed: Reelfeed) async throws {
    guard let item = try await reelfeed.feed(userId: "ada").data.first else { return }
    func event(_ kind: String, _ data: EventData? = nil) -> Event {
        Event(eventId: UUID().uuidString, event: kind, contentId: item.id, userId: "ada", data: data)
    }
    try await reelfeed.send([
        event("impression", EventData(position: 0)),
        event("playStart", EventData(startupTime: 180)),
        event("like"),
    ])
}
