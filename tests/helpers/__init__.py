"""What several tests share: people, servers, databases, pages, and banks to try things on."""
